use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn call(verb: &str, body: Value) -> Result<Value> {
    let here = std::env::var("HERE")?;
    let key = std::env::var("KEY")?;
    let mut response = ureq::post(format!("{here}/v1/consumers/default/{verb}"))
        .header("Authorization", format!("Bearer {key}"))
        .send_json(body)?;
    Ok(response.body_mut().with_config().limit(64 << 20).read_json()?)
}

fn work(event: &Value) -> Result<()> {
    println!("{} {}", event["id"], event["type"]);
    Ok(())
}

fn run() -> Result<()> {
    let claimed = call("claim", json!({"max": 10, "lease_seconds": 60, "wait_seconds": 30}))?;
    for event in claimed["events"].as_array().into_iter().flatten() {
        match work(event) {
            Ok(()) => call("ack", json!({"leases": [event["lease"]]}))?,
            Err(error) => call("nack", json!({"leases": [
                {"lease": event["lease"], "outcome": "retry", "error": error.to_string()}]}))?,
        };
    }
    Ok(())
}

fn main() {
    loop {
        if let Err(error) = run() {
            eprintln!("{error}");
            std::thread::sleep(std::time::Duration::from_secs(5));
        }
    }
}
