//! The form of a consumer.

use restante_core::filter::{Filter, FilterInput, TypeGlob};
use restante_core::problem::Problem;
use url::form_urlencoded;

use crate::parts::form::{Faults, first_step};
use crate::tenant::choices::{Choice, Choices};

/// What was typed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Typed {
    pub(crate) name: String,
    pub(crate) endpoints: Vec<String>,
    pub(crate) providers: String,
    pub(crate) types: String,
    pub(crate) max_attempts: String,
    pub(crate) start: String,
}

impl Typed {
    /// Reads a form.
    pub(crate) fn read(body: &[u8]) -> Self {
        let mut typed = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            let value = value.into_owned();
            match &*name {
                "name" => typed.name = value,
                "endpoint" => typed.endpoints.push(value),
                "providers" => typed.providers = value,
                "types" => typed.types = value,
                "max_attempts" => typed.max_attempts = value,
                "start" => typed.start = value,
                _ => {}
            }
        }
        typed
    }

    /// The form as a consumer is.
    pub(crate) fn of(filter: &Filter, max_attempts: u32) -> Self {
        Self {
            endpoints: filter.endpoints.iter().map(ToString::to_string).collect(),
            providers: filter.providers.join(", "),
            types: filter.types.iter().map(TypeGlob::as_str).collect::<Vec<_>>().join(", "),
            max_attempts: max_attempts.to_string(),
            ..Self::default()
        }
    }

    pub(crate) fn filter(&self) -> FilterInput {
        FilterInput {
            endpoints: self.endpoints.clone(),
            providers: list(&self.providers),
            types: list(&self.types),
        }
    }

    /// The number of tries; empty is the usual.
    pub(crate) fn max_attempts(&self) -> Result<Option<u32>, &'static str> {
        match self.max_attempts.trim() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| "This is a whole number, such as 12."),
        }
    }

    /// What can't be read at all.
    pub(crate) fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        if let Err(fault) = self.max_attempts() {
            faults.add("max_attempts", fault);
        }
        faults
    }

    /// The endpoints as boxes to tick.
    pub(crate) fn endpoints(&self, choices: &Choices) -> Vec<Choice> {
        let mut all = choices.endpoints("");
        for one in &mut all {
            one.chosen = self.endpoints.contains(&one.value);
        }
        all
    }
}

/// Words with commas or line breaks between.
fn list(text: &str) -> Vec<String> {
    text.split([',', '\n']).map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// The faults of a verb at the fields of the form.
pub(crate) fn faults(problem: &Problem) -> Faults {
    Faults::of(problem, |pointer| match pointer.strip_prefix("/filter/") {
        Some(below) => below
            .split('/')
            .next()
            .map(|field| if field == "endpoints" { "endpoint".to_owned() } else { field.to_owned() }),
        None => first_step(pointer),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_written_with_commas() {
        let typed = Typed::read(
            b"name=a&endpoint=ep_1&endpoint=ep_2&types=invoice.*%2C+push%0Ax&providers=&max_attempts=+5+",
        );
        let filter = typed.filter();
        assert_eq!((filter.endpoints.len(), filter.providers.len()), (2, 0));
        assert_eq!(filter.types, ["invoice.*", "push", "x"]);
        assert_eq!(typed.max_attempts(), Ok(Some(5)));
        assert!(!Typed::read(b"max_attempts=many").faults().is_empty());
    }

    #[test]
    fn faults_stand_at_their_fields() {
        let fault = |pointer: &str| {
            faults(&Problem::field(pointer, "Wrong.")).fields().first().map(|fault| fault.field.clone())
        };
        assert_eq!(fault("/filter/types/0").as_deref(), Some("types"));
        assert_eq!(fault("/filter/endpoints/1").as_deref(), Some("endpoint"));
        assert_eq!(fault("/name").as_deref(), Some("name"));
    }
}
