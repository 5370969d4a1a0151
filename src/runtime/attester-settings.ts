import { parseListSetting } from './list-setting.ts'
import { parseTarget, TargetRefused } from './outbound/target.ts'

/** Another attester, as the operator configures it. */
export type AttesterSetting = {
  /** Uncompressed: 65 bytes in hexadecimal digits, in lower case. */
  publicKey: `0x${string}`
  /** Where it is asked for signatures; absent for one that is asked no more. */
  service?: { url: string; token: string }
}

const setting = 'BEZANT_ATTESTERS'
const example = '[{"publicKey":"0x04…","url":"https://attester.example","token":"LIVE_API_KEY:…"}]'
const attestersMax = 15

/** Reads `BEZANT_ATTESTERS`. Messages contain no token. */
export function parseAttesters(text: string | undefined): AttesterSetting[] {
  const list = `a list of at most ${attestersMax} attesters,`
  const attesters = parseListSetting(text, { name: setting, example, list }, attestersMax).map(attesterOf)
  if (new Set(attesters.map(({ publicKey }) => publicKey)).size < attesters.length)
    throw new Error(`${setting} names a publicKey twice`)
  return attesters
}

function attesterOf(item: unknown): AttesterSetting {
  const { publicKey, url, token, ...rest } = (item ?? {}) as Record<string, unknown>
  const wrong = (what: string) => new Error(`${setting}: ${what}, as in ${example}`)
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw wrong(`there is no setting "${unknown}"`)
  if (typeof publicKey !== 'string' || !/^0x04[\da-fA-F]{128}$/.test(publicKey))
    throw wrong('publicKey must be the one that bezant attestation-keys list --json shows')
  const known = { publicKey: publicKey.toLowerCase() as `0x${string}` }
  if (url === undefined && token === undefined) return known
  if (typeof url !== 'string' || typeof token !== 'string' || token === '')
    throw wrong('an attester that is asked needs a url and a token')
  try {
    const { search, hash } = parseTarget(url)
    if (search !== '' || hash !== '') throw new TargetRefused('must not contain a query')
  } catch (error) {
    throw wrong(`the url ${(error as Error).message}`)
  }
  return { ...known, service: { url: url.replace(/\/+$/, ''), token } }
}

/** Number of attesters that have to sign a message, this server included. Throws where there are fewer. */
export function requireThreshold(threshold: number, attesters: readonly AttesterSetting[]): number {
  const most = 1 + attesters.filter(({ service }) => service).length
  if (threshold >= 1 && threshold <= most) return threshold
  throw new Error(
    `BEZANT_ATTESTATION_THRESHOLD must be from 1 to ${most}, the number of attesters in ${setting} and this server, not "${threshold}"`,
  )
}
