"""Forms at the door."""

from django import forms


class OwnerForm(forms.Form):
    email = forms.EmailField(max_length=254)
