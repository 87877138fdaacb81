"""Swiss systems held against what Sauer, Cseh & Lenzner (2022; 2024) published of them, and against each other."""
