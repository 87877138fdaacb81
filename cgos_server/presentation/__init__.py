"""What pages and commands both show: words, boards, figures, answers."""
