/**
 * A provider of screening whose answers come from the rules of a plan. It is asked as one that an operator sets is, in the same
 * form; without a rule of screening the platform asks the one that was set, if any.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { forgetAnswers } from '#engines/compliance/index'
import type { EngineCtx } from '#engines/ctx'
import { createCaller } from '#runtime/outbound/call'
import { delayMs } from '../../durations.ts'
import type { Faults } from '../faults.ts'
import type { verdicts } from '../plan-schema.ts'
import { isWord } from '../rules.ts'

type ScreeningFaultsInput = { ctx: EngineCtx; faults: Faults }

/** Longer than the platform waits for an answer. */
const delayMaxMs = 10_000
const bytesMax = 16_384

export function openScreeningFaults({ ctx, faults }: ScreeningFaultsInput): { stop(): Promise<void> } {
  const { config, database } = ctx
  const own = { url: config?.screeningUrl, token: config?.screeningToken }
  let server: Server | undefined
  const end = async () => {
    if (!server) return
    config.screeningUrl = own.url
    server.closeAllConnections()
    await new Promise((resolve) => server?.close(resolve))
    server = undefined
  }
  const follow = async () => {
    const had = server !== undefined
    const isWanted = faults.rulesOf('screening').length > 0
    if (!isWanted) await end()
    else if (!server) {
      server = await listen((incoming, outgoing) => answer(faults, own, incoming, outgoing))
      config.screeningUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    }
    // Addresses that a former plan decided about are asked about anew.
    if (had || isWanted) await forgetAnswers(database)
  }
  faults.onChange(follow)
  void follow().catch((error) => ctx.log.error({ err: error }, 'the rules of screening do not work'))
  return { stop: end }
}

function listen(
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>,
): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy())
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

type Provider = { url: string | undefined; token: string | undefined }

async function answer(
  faults: Faults,
  own: Provider,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks).toString()
  const asked = JSON.parse(body) as { chain: string; address: string }
  const { chain, address } = asked
  const hits = faults.meet(
    'screening',
    ({ match = {} }) => isWord(match.blockchain, chain) && isWord(match.address, address),
    () => ({ blockchain: chain, address }),
  )
  for (const { rule } of hits)
    if (rule.do.delay !== undefined) await sleep(Math.min(delayMs(rule.do.delay), delayMaxMs))
  if (hits.some(({ rule }) => rule.do.unavailable)) return void outgoing.writeHead(503).end()
  const deciding = hits.find(({ rule }) => rule.do.verdict !== undefined)?.rule
  if (!deciding && own.url !== undefined) {
    const { status, text } = await askOwn(own, body)
    return void outgoing.writeHead(status, { 'Content-Type': 'application/json' }).end(text)
  }
  const { verdict = 'APPROVED', reason = deciding?.name } = deciding?.do ?? {}
  const said = { ...asked, actions: actionsOf[verdict], ruleName: reason }
  outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(said))
}

const actionsOf: Readonly<Record<(typeof verdicts)[number], readonly string[]>> = {
  APPROVED: ['APPROVE'],
  REVIEW: ['REVIEW'],
  FREEZE: ['DENY', 'FREEZE_WALLET'],
  DENIED: ['DENY'],
}

const call = createCaller('private')

/** Asks the provider that the operator set. */
const askOwn = ({ url, token }: Provider, body: string) =>
  call({
    method: 'POST',
    url: url!,
    timeoutMs: delayMaxMs,
    keptBytes: bytesMax,
    headers: {
      'Content-Type': 'application/json',
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
    },
    body,
  })
