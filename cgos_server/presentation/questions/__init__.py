"""What pages and commands say of questions such as "is my new version stronger?"."""
