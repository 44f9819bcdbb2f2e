"""What an answer does: whether it answers, declines, asks back or hands over."""
