import { createCaller } from '../outbound/call.ts'
import type { Targets } from '../outbound/target.ts'

/** An answer that decides nothing; the message continues "the provider". */
export class ProviderAway extends Error {}

/** Time limit of one answer. */
const timeoutMs = 4_000
const keptBytes = 65_536

const callers: Partial<Record<Targets, ReturnType<typeof createCaller>>> = {
  public: createCaller('public'),
  private: createCaller('private'),
}

type JsonAnswer = { status: number; body: Record<string, unknown> }

/** Reads a JSON object from a provider, in answer to a form where there is one. Throws ProviderAway when there is none. */
export async function askJson(
  url: string,
  targets: 'public' | 'private',
  form?: Record<string, string>,
): Promise<JsonAnswer> {
  const headers = {
    Accept: 'application/json',
    ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }),
  }
  const { status, text, isWhole } = await callers[targets]!({
    method: form ? 'POST' : 'GET',
    url,
    headers,
    ...(form && { body: new URLSearchParams(form).toString() }),
    timeoutMs,
    keptBytes,
  }).catch((error: Error) => {
    throw new ProviderAway(`cannot be asked: ${error.message}`)
  })
  if (!isWhole) throw new ProviderAway(`answered with more than ${keptBytes} bytes, or not completely`)
  const body = parse(text)
  if (!body) throw new ProviderAway(`answered with the status ${status} and without a JSON object`)
  return { status, body }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const body: unknown = JSON.parse(text)
    return typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
