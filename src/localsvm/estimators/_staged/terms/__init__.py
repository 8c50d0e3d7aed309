"""What the staged SVM is made of: regions of linear SVMs, and kernel SVMs."""
