import { describe, expect, it } from 'vitest'
import { parseAttesters } from './attester-settings.ts'
import { readConfig } from './config.ts'

const publicKey = `0x04${'ab'.repeat(64)}`
const asked = { publicKey, url: 'https://attester.example/', token: 'LIVE_API_KEY:x:y' }
const json = (...attesters: unknown[]) => JSON.stringify(attesters)

describe('BEZANT_ATTESTERS', () => {
  it('names attesters that are asked, and keys of those that are asked no more', () => {
    const other = `0x04${'CD'.repeat(64)}`
    expect(parseAttesters(undefined)).toEqual([])
    expect(parseAttesters(json(asked, { publicKey: other }))).toEqual([
      { publicKey, service: { url: 'https://attester.example', token: 'LIVE_API_KEY:x:y' } },
      { publicKey: other.toLowerCase() },
    ])
  })

  it.each([
    ['{', 'must be JSON'],
    ['{}', 'must be a list'],
    [json(...Array(16).fill(asked)), 'at most 15'],
    [json(7), 'publicKey must be'],
    [json({ ...asked, publicKey: `0x${'ab'.repeat(20)}` }), 'publicKey must be'],
    [json({ ...asked, name: 'one' }), 'no setting "name"'],
    [json({ ...asked, token: undefined }), 'needs a url and a token'],
    [json({ ...asked, url: undefined }), 'needs a url and a token'],
    [json({ ...asked, url: 'attester.example' }), 'the url must be'],
    [json({ ...asked, url: 'https://u:secret@attester.example' }), 'the url must not contain'],
    [json({ ...asked, url: 'https://attester.example?a=b' }), 'the url must not contain a query'],
    [json(asked, { publicKey: publicKey.toUpperCase().replace('0X', '0x') }), 'names a publicKey twice'],
  ])('is refused with a reason that has no secret: %s', (text, reason) => {
    const refusal = () => parseAttesters(text)
    expect(refusal).toThrow(reason)
    expect(refusal).not.toThrow(/LIVE_API_KEY:x|secret/)
  })

  it('has as many as the threshold needs beside this server', () => {
    const read = (threshold: string, attesters?: string) =>
      readConfig({}, { BEZANT_ATTESTATION_THRESHOLD: threshold, BEZANT_ATTESTERS: attesters })
    expect(read('')).toMatchObject({ attestationThreshold: 1, attesters: [] })
    expect(read('2', json(asked)).attestationThreshold).toBe(2)
    for (const [threshold, attesters] of [
      ['0'],
      ['2'],
      ['3', json(asked)],
      ['2', json({ publicKey })],
    ] as const)
      expect(() => read(threshold, attesters)).toThrow('BEZANT_ATTESTATION_THRESHOLD must be from 1 to')
  })
})
