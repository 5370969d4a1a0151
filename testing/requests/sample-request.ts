import type { World } from '#testing/builders/world'

export type RequestSamples = {
  /** A request that succeeds, a different one each time. */
  request: (world: World) => Promise<SampleRequest>
  /** Other valid values of single fields of its body: with the same idempotencyKey each is a different request. */
  changes?: (world: World) => Promise<Record<string, unknown>>
  /** Fields that pass the schema and are refused by the verb. */
  refused?: (world: World) => Promise<Record<string, unknown>>
  /** The text of a refusal that is recorded; all others write nothing. */
  recordedRefusal?: RegExp
}

export type SampleRequest = {
  params?: Record<string, string>
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Record<string, unknown>
  /** The request sends a list with the body as its only item. */
  listed?: true
}

/** The path with its parameters in place. */
export function addressOf(path: string, params: Record<string, string> = {}): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? `{${name}}`))
}
