//! Faults of a form: each stands beside its field and again in the summary at the top, which leads to
//! the field.

use std::fmt;

use askama::filters::{Escaper as _, Html, HtmlSafe};
use restante_core::problem::{FieldError, Problem};

use super::icon::Icon;

/// What is wrong with what was typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Faults {
    /// A fault of the form as a whole.
    whole: Option<String>,
    fields: Vec<Fault>,
}

/// A fault of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The field's name in the form, which is also the id of its control.
    pub(crate) field: String,
    pub(crate) detail: String,
}

impl Faults {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.is_none() && self.fields.is_empty()
    }

    /// From a verb's refusal. `name` gives the form's field for a JSON pointer; what has no field
    /// counts for the form as a whole.
    pub(crate) fn of(problem: &Problem, name: impl Fn(&str) -> Option<String>) -> Self {
        let mut faults = Self::default();
        for FieldError { pointer, detail } in &problem.errors {
            match name(pointer) {
                Some(field) => faults.add(field, detail.clone()),
                None => faults.add_whole(detail),
            }
        }
        if faults.is_empty() {
            faults.add_whole(&problem.detail);
        }
        faults
    }

    /// One more fault of a field.
    pub(crate) fn add(&mut self, field: impl Into<String>, detail: impl Into<String>) {
        self.fields.push(Fault { field: field.into(), detail: detail.into() });
    }

    fn add_whole(&mut self, detail: &str) {
        match &mut self.whole {
            Some(whole) => {
                whole.push(' ');
                whole.push_str(detail);
            }
            None => self.whole = Some(detail.to_owned()),
        }
    }

    /// The fault of a field.
    pub(crate) fn get(&self, field: &str) -> Option<&str> {
        self.fields.iter().find(|fault| fault.field == field).map(|fault| fault.detail.as_str())
    }

    /// The attributes of a field's control when it has a fault.
    pub(crate) fn mark(&self, field: &'static str) -> Mark {
        Mark(self.get(field).map(|_| field))
    }

    /// What stands beside a field that has a fault.
    pub(crate) fn beside(&self, field: &'static str) -> Beside<'_> {
        Beside { field, detail: self.get(field) }
    }

    /// The fault of the form as a whole.
    pub(crate) fn whole(&self) -> Option<&str> {
        self.whole.as_deref()
    }

    /// All faults of fields.
    pub(crate) fn fields(&self) -> &[Fault] {
        &self.fields
    }

    /// The heading of the summary.
    pub(crate) fn heading(&self) -> &'static str {
        match (self.fields.len(), &self.whole) {
            (0, _) => "This could not be done",
            (1, None) => "One field needs another look",
            _ => "Some fields need another look",
        }
    }
}

/// The attributes of a control whose field has a fault; nothing for one that has none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark(Option<&'static str>);

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // The names of fields are ours.
            Some(field) => write!(f, " aria-invalid=\"true\" aria-describedby=\"{field}-fault\""),
            None => Ok(()),
        }
    }
}

impl HtmlSafe for Mark {}

/// The fault of a field, beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'a> {
    field: &'static str,
    detail: Option<&'a str>,
}

impl fmt::Display for Beside<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(detail) = self.detail else { return Ok(()) };
        let (field, icon) = (self.field, Icon::named("failures"));
        write!(f, "<p class=\"fault\" id=\"{field}-fault\">{icon}<span>")?;
        Html.write_escaped_str(&mut *f, detail)?;
        f.write_str("</span></p>")
    }
}

impl HtmlSafe for Beside<'_> {}

/// The field of a pointer's first step: `/name` is `name`, `/secrets/0` is `secrets`.
pub(crate) fn first_step(pointer: &str) -> Option<String> {
    pointer.strip_prefix('/')?.split('/').next().filter(|step| !step.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use restante_core::problem::Code;

    use super::*;

    #[test]
    fn a_fault_stands_at_its_field_and_the_rest_at_the_top() {
        let errors = vec![
            FieldError { pointer: "/name".to_owned(), detail: "Too long.".to_owned() },
            FieldError { pointer: "/secrets/0".to_owned(), detail: "Empty.".to_owned() },
            FieldError { pointer: "elsewhere".to_owned(), detail: "Odd.".to_owned() },
        ];
        let faults = Faults::of(&Problem::fields(errors), first_step);
        assert_eq!(faults.get("name"), Some("Too long."));
        assert_eq!(faults.get("secrets"), Some("Empty."));
        assert_eq!(faults.whole(), Some("Odd."));
        assert_eq!(faults.fields().len(), 2);
        assert_eq!(faults.heading(), "Some fields need another look");
    }

    #[test]
    fn what_stands_beside_a_field_is_text() {
        let mut faults = Faults::default();
        assert_eq!(format!("{}{}", faults.mark("name"), faults.beside("name")), "");
        faults.add("name", "<b>&");
        let shown = faults.beside("name").to_string();
        assert!(shown.contains("&#60;b&#62;&#38;") && shown.contains("id=\"name-fault\""), "{shown}");
        assert!(faults.mark("name").to_string().contains("aria-describedby=\"name-fault\""));
    }

    #[test]
    fn a_refusal_without_fields_is_one_of_the_whole_form() {
        let faults = Faults::of(&Problem::new(Code::Conflict, "Taken."), first_step);
        assert_eq!((faults.whole(), faults.heading()), (Some("Taken."), "This could not be done"));
        assert!(Faults::default().is_empty());
    }
}
