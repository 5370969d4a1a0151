import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { requireNetwork } from '#chains/networks/index'
import { ApiError } from '#lib/errors'
import type { LocalChain } from '../chains/index.ts'

/** The sandbox as fixtures use it: over its own API, with its own key. */
export type TriggerTarget = {
  url: () => string
  apiKey: string
  chains: readonly Pick<LocalChain, 'blockchain' | 'tokens'>[]
}

// biome-ignore lint/suspicious/noExplicitAny: every answer has its own shape
type StepAnswer = any

/** The values of a run: the defaults of the fixture with those that were set. */
type TriggerValues = Readonly<Record<string, string>>

export type Steps = ReturnType<typeof openSteps>

const waitMaxMs = 60_000
const lookEveryMs = 50

/** Steps of a fixture: requests, waits and payments from outside. `made` collects the resources that the run is about. */
export function openSteps({ url, apiKey, chains }: TriggerTarget, values: TriggerValues, seed: string) {
  const made: { kind: string; id: string }[] = []
  let drawn = 0
  const network = requireNetwork(values['blockchain']!)
  const call = async (method: 'GET' | 'POST', path: string, body?: object): Promise<StepAnswer> => {
    const response = await fetch(url() + path, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json().catch(() => ({}))) as StepAnswer
    if (response.ok) return answer.data
    throw new ApiError('triggerFailed', `${method} ${path} answered ${response.status}: ${answer.message}`)
  }
  const post = (path: string, body: object) => call('POST', path, { idempotencyKey: randomUUID(), ...body })
  const signed = async (path: string, body: object) =>
    post(path, { ...(await call('GET', '/sandbox/ciphertext')), ...body })
  const until = async <Found>(read: () => Promise<Found | undefined>, what: string): Promise<Found> => {
    const endMs = performance.now() + waitMaxMs
    for (;;) {
      const found = await read()
      if (found !== undefined) return found
      if (performance.now() > endMs)
        throw new ApiError('triggerFailed', `It was not so within ${waitMaxMs / 1_000} s: ${what}.`)
      await delay(lookEveryMs)
    }
  }
  return {
    made,
    values,
    network,
    usdc: chains.find(({ blockchain }) => blockchain === values['blockchain'])!.tokens.USDC,
    call,
    post,
    signed,
    until,
    /** Names a resource that the run is about. */
    note: (kind: string, id: string): string => {
      if (!made.some((each) => each.id === id)) made.push({ kind, id })
      return id
    },
    /** An address without a key; the same seed draws the same ones. */
    address: (): string => {
      drawn += 1
      return `0x${createHash('sha256').update(`${seed} ${drawn}`).digest('hex').slice(0, 40)}`
    },
    /** Waits until a resource has a state of these. */
    untilState: (path: string, read: (shown: StepAnswer) => string | undefined, ...states: string[]) =>
      until(
        async () => {
          const shown = await call('GET', path)
          return states.includes(read(shown) ?? '') ? shown : undefined
        },
        `${path} has the state ${states.join(' or ')}`,
      ),
    onChain: (verb: string, body: object) =>
      call('POST', `/sandbox/chains/${values['blockchain']}/${verb}`, body),
    /** Pays an address from outside, without a limit. */
    pay: (address: string, token: string, amount: string): Promise<{ txHash: string }> =>
      call('POST', '/sandbox/faucet', { address, blockchain: values['blockchain'], token, amount }),
  }
}
