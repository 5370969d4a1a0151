import { expect } from 'vitest'
import type { Harness } from '#testing/platform/harness'

/** A plan of faults with these rules, in YAML. */
export const faultPlan = (rules: string, seed = 7) => `apiVersion: bezant/v1\nseed: ${seed}\nrules:\n${rules}`

/** What tests do with the faults of a sandbox. */
export function faultActions(harness: Harness) {
  /** Sends a text to an operation of the lab, as it is. */
  async function lab(method: string, path: string, body?: string) {
    const response = await fetch(harness.url + path, {
      method,
      ...(body !== undefined && { body, headers: { 'Content-Type': 'application/yaml' } }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  return {
    lab,
    async apply(rules: string, seed?: number) {
      const { status, body } = await lab('PUT', '/sandbox/faults', faultPlan(rules, seed))
      expect([status, body.message]).toEqual([200, undefined])
      return body.data
    },
    met: async () => (await lab('GET', '/sandbox/faults/met')).body.data,
    clear: () => lab('DELETE', '/sandbox/faults'),
  }
}
