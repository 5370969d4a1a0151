import { type Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Config } from '#runtime/config'
import { type CheckedRequest, createAgents } from './agents.ts'
import { findTarget, type Resolve, resolveName, type Target, type Targets } from './target.ts'

export type OutboundCall = {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT'
  url: string
  headers?: Record<string, string>
  body?: string | Uint8Array
  timeoutMs: number
  /** The number of bytes of the answer that are kept. Default: the beginning, for a log. */
  keptBytes?: number
  /** The length up to which the value of a header is kept. Default: that of a log. */
  headerLengthMax?: number
  signal?: AbortSignal | undefined
  /**
   * Uses a connection that an earlier such call to the same name and addresses left, and leaves it for the next. Rejects with
   * KeptConnectionEnded when that connection ends before an answer.
   */
  keepAlive?: boolean
}

/**
 * A connection that served a request before ended without an answer to this one. The server may have closed it before the
 * request arrived, or have ended it on purpose, and only a new connection shows which.
 */
export class KeptConnectionEnded extends Error {}

/** A response: its first headers, the beginning of its body, and whether that is all of it. */
export type Answered = { status: number; headers: Record<string, string>; text: string; isWhole: boolean }

/**
 * Calls URLs that customers or operators supplied. Resolves the name once per call, checks every address, and connects to a
 * checked one only. Does not follow redirects. Rejects with TargetRefused, or when there is no response.
 */
export type OutboundCaller = (call: OutboundCall) => Promise<Answered>

const answerBytesMax = 65_536
const keptMax = 300
const headersMax = 30
const loggedLengthMax = 300

/** Returns the certificate that a server at this address may have made for itself, where one is trusted. */
type Trusts = (url: URL) => string | undefined

/** The caller of addresses that customers name. Calls of this server to itself trust the certificate that it made for itself. */
export const callerOf = (config: Config): OutboundCaller =>
  createCaller(config.notificationTargets, resolveName, ({ origin }) =>
    // The address is known once the server listens.
    config.tls && origin === config.publicUrl ? config.tls.cert : undefined,
  )

export function createCaller(
  targets: Targets,
  resolve: Resolve = resolveName,
  trusts: Trusts = () => undefined,
): OutboundCaller {
  const agents = createAgents()
  return async (call) => {
    const deadline = AbortSignal.timeout(call.timeoutMs)
    const signal = call.signal ? AbortSignal.any([deadline, call.signal]) : deadline
    try {
      const target = await orAborted(findTarget(call.url, targets, resolve), signal)
      const ca = trusts(target.url)
      if (!call.keepAlive) return await send(target, call, { signal, agent: false, ca })
      await endsNoticed()
      return await send(target, call, { signal, agent: agents[target.url.protocol]!, ca })
    } catch (error) {
      if (deadline.aborted) throw new Error(`no answer within ${call.timeoutMs / 1000} s`)
      throw error
    }
  }
}

/** Lets the event loop poll once, so that idle connections which their servers have closed are not used any more. */
const endsNoticed = () => new Promise<void>((resolve) => setImmediate(() => setImmediate(resolve)))

type Connecting = { signal: AbortSignal; agent: Agent | false; ca: string | undefined }

function send(
  { url, addresses }: Target,
  call: OutboundCall,
  { signal, agent, ca }: Connecting,
): Promise<Answered> {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const { method, body, headers } = call
  const checked: CheckedRequest = { checkedAddresses: addresses }
  return new Promise((resolve, reject) => {
    const fail = (error: Error & { code?: string }) => {
      const isEnd = sent.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
      reject(isEnd ? new KeptConnectionEnded(error.message) : error)
    }
    const sent = request(
      url,
      {
        method,
        headers: { 'User-Agent': 'Bezant', ...headers },
        agent,
        lookup: lookupIn(addresses),
        ...checked,
        ...(ca !== undefined && { ca }),
        signal,
      },
      (response) => {
        // From here on the status is known; a broken connection only ends the reading of the body.
        sent.removeListener('error', fail).on('error', () => undefined)
        void read(response, call).then(resolve)
      },
    )
    sent.on('error', fail)
    sent.end(body)
  })
}

/** Reads the status and the beginning of the body; an early end of the body is no error. */
function read(
  response: IncomingMessage,
  { keptBytes = keptMax, headerLengthMax = loggedLengthMax }: OutboundCall,
): Promise<Answered> {
  const status = response.statusCode ?? 0
  const kept: Buffer[] = []
  let bytes = 0
  return new Promise((resolve) => {
    const headers = headersOf(response, headerLengthMax)
    const end = () => {
      const text = Buffer.concat(kept).toString('utf8', 0, keptBytes)
      resolve({ status, headers, text, isWhole: response.complete && bytes <= keptBytes })
    }
    response.on('data', (chunk: Buffer) => {
      if (bytes < keptBytes) kept.push(chunk)
      bytes += chunk.length
      if (bytes > Math.max(keptBytes, answerBytesMax)) response.destroy()
    })
    response.on('error', end)
    response.on('close', end)
  })
}

const headersOf = ({ headers }: IncomingMessage, lengthMax: number): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, headersMax)
      .map(([name, value]) => [
        name.slice(0, loggedLengthMax),
        String(value).replaceAll('\0', '').slice(0, lengthMax),
      ]),
  )

/** Returns a lookup of the checked addresses, which replaces a second DNS query. */
const lookupIn =
  (addresses: readonly string[]): LookupFunction =>
  (_, { all }, callback) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    if (all) return callback(null, found)
    callback(null, found[0]!.address, found[0]!.family)
  }

function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })
}
