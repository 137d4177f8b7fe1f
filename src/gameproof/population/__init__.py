"""How people answer a deployed model: response models, black boxes, the count of what is asked."""
