// Requests. An error says what the service said, which is written for people.

const refusal = (status, message) => Object.assign(new Error(message), { status });

/** Ask the service; returns JSON. Addresses are relative: the page may live under a prefix. */
export async function ask(path, method = "GET") {
  let answer;
  try {
    answer = await fetch(path, { method, headers: { accept: "application/json" } });
  } catch {
    throw refusal(0, "The service does not answer.");
  }
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw refusal(answer.status, told.detail ?? `${answer.status} ${answer.statusText}`);
  return told;
}

export const home = (id) => `v1/jobs/${encodeURIComponent(id)}`;
export const FINAL = ["succeeded", "failed", "canceled", "deleted"];
