"""The same store on PostgreSQL, through asyncpg. Imported only where a PostgreSQL URL is configured."""
