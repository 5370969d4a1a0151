import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { parseAddress } from '#chains/address'
import { encodeBase58 } from '#chains/addresses/base-encodings'
import { type Network, requireNetwork } from '#chains/networks/index'
import type { EngineCtx } from '#engines/ctx'
import { ApiError } from '#lib/errors'
import { engineChain } from '../chain-control/payment.ts'
import type { LocalChain } from '../chains/index.ts'

/** The sandbox as fixtures use it: over its own API, with its own key. */
export type TriggerTarget = {
  url: () => string
  apiKey: string
  /** The key of pages, which opens the JSON-RPC of modular wallets. */
  clientKey: string
  ctx: Pick<EngineCtx, 'chains'>
  chains: readonly Pick<LocalChain, 'blockchain' | 'tokens'>[]
}

// biome-ignore lint/suspicious/noExplicitAny: every answer has its own shape
type StepAnswer = any

type StepMethod = 'GET' | 'POST' | 'PUT'

/** The values of a run: the defaults of the fixture with those that were set. */
type TriggerValues = Readonly<Record<string, string>>

export type Steps = ReturnType<typeof openSteps>

const waitMaxMs = 60_000
const lookEveryMs = 50

/** The requests of a fixture: of the app, of a user, and of a page. */
function openRequests({ url, apiKey, clientKey }: TriggerTarget, { rpcPath }: Network) {
  const send = async (
    method: StepMethod,
    path: string,
    headers: Record<string, string>,
    body?: object,
  ): Promise<StepAnswer> => {
    const response = await fetch(url() + path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json().catch(() => ({}))) as StepAnswer
    if (response.ok) return answer
    throw new ApiError('triggerFailed', `${method} ${path} answered ${response.status}: ${answer.message}`)
  }
  /** For operations whose answers are in no envelope. */
  const ask = (method: StepMethod, path: string, body?: object): Promise<StepAnswer> =>
    send(method, path, { authorization: `Bearer ${apiKey}` }, body)
  const call = async (method: StepMethod, path: string, body?: object): Promise<StepAnswer> =>
    (await ask(method, path, body)).data
  const post = (path: string, body: object) => call('POST', path, { idempotencyKey: randomUUID(), ...body })
  const signed = async (path: string, body: object) =>
    post(path, { ...(await call('GET', '/sandbox/ciphertext')), ...body })
  return {
    ask,
    call,
    post,
    signed,
    /** A request of a user with a token; the page of users sends it without the key of the app. */
    callAs: async (
      userToken: string,
      method: StepMethod,
      path: string,
      body?: object,
    ): Promise<StepAnswer> => {
      const key = path.startsWith('/page/') ? {} : { authorization: `Bearer ${apiKey}` }
      return (await send(method, path, { ...key, 'X-User-Token': userToken }, body)).data
    },
    /** A method of the JSON-RPC by which pages make modular wallets. */
    callModular: async (rpcMethod: string, params: readonly unknown[]): Promise<StepAnswer> => {
      const path = `/v1/rpc/w3s/buidl/${rpcPath}`
      const request = { jsonrpc: '2.0', id: 1, method: rpcMethod, params }
      const { result, error } = await send('POST', path, { authorization: `Bearer ${clientKey}` }, request)
      if (error) throw new ApiError('triggerFailed', `${rpcMethod} failed: ${error.message}`)
      return result
    },
  }
}

/** Steps of a fixture: requests, waits and payments from outside. `made` collects the resources that the run is about. */
export function openSteps(target: TriggerTarget, values: TriggerValues, seed: string) {
  const made: { kind: string; id: string }[] = []
  let drawn = 0
  const network = requireNetwork(values['blockchain']!)
  const requests = openRequests(target, network)
  const { call } = requests
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
    /** The chain, for what a client computes by itself. */
    chain: engineChain(target.ctx, network.blockchain),
    usdc: target.chains.find(({ blockchain }) => blockchain === values['blockchain'])!.tokens.USDC,
    ...requests,
    until,
    /** Names a resource that the run is about. */
    note: (kind: string, id: string): string => {
      if (!made.some((each) => each.id === id)) made.push({ kind, id })
      return id
    },
    /** An address without a key; the same seed draws the same ones. */
    address: (): string => {
      drawn += 1
      const digits = createHash('sha256').update(`${seed} ${drawn}`).digest('hex')
      const forms = [`0x${digits.slice(0, 40)}`, `0x${digits}`, encodeBase58(Buffer.from(digits, 'hex'))]
      return forms.find((form) => parseAddress(network.blockchain, form) !== undefined)!
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
