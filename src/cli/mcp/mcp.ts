import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { openBuyer } from '#api/mcp/purchases/buy'
import { createToolServer, openCallLimit } from '#api/mcp/server'
import { requireOwnNetworks } from '#chains/networks/index'
import { isLoopback } from '#lib/web-origin'
import { commandKeyOf, commandSecretOf } from '#runtime/config'
import { createCaller, type OutboundCaller } from '#runtime/outbound/call'
import { sandboxApiKey, sandboxEntitySecret } from '#sandbox/credentials'
import { serverOptions } from '../ask-server.ts'
import { type Command, type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { listenAtOf, publicOriginOf } from '../listen-address.ts'
import { serverAddress } from '../server-address.ts'
import { waitForStopSignal } from '../stop-signal.ts'
import { entityOfKey, openAgents } from './agents.ts'
import { askPlatform, isSandbox, type PlatformAccess } from './ask-platform.ts'
import { serveHosts } from './listen.ts'

export const mcpCommand: Command = {
  usage: `bezant mcp [--allow-acts [--local-sellers]] [--listen [HOST:]PORT [--public-url URL]] [--url URL]

Serves the Model Context Protocol on standard input and output: a host of agents starts this command,
and its agents read wallets, balances, transactions, timelines and policies. With --allow-acts they
also create wallets, make transfers and pay for what they fetch (x402), within the policies of the API
key: bezant policy set --key ID.

It asks a running server, with the API key in BEZANT_API_KEY and, to act, the entity secret in
BEZANT_ENTITY_SECRET, or in the files that BEZANT_API_KEY_FILE and BEZANT_ENTITY_SECRET_FILE name;
without a key with the public credentials of a sandbox. Networks of the operator are those of
BEZANT_OWN_NETWORKS_FILE.

With --listen it serves over HTTP at /mcp, for hosts elsewhere and several agents: each host sends the
API key of its agent (Authorization: Bearer KEY), and the entity secret stays with this command. Agents
act whose keys are of the entity of BEZANT_API_KEY; others read.`,
  options: {
    'allow-acts': { type: 'boolean', about: 'Give agents the tools that create, pay and buy.' },
    'local-sellers': {
      type: 'boolean',
      about:
        'Let agents fetch from this machine and its network; from this machine they may where the server is a sandbox.',
    },
    listen: {
      type: 'string',
      value: '[HOST:]PORT',
      about: 'Serve over HTTP, at /mcp; without a host at 127.0.0.1.',
    },
    'public-url': {
      type: 'string',
      value: 'URL',
      about: 'The origin that hosts use, of a proxy with https before --listen.',
    },
    ...serverOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  requireOwnNetworks()
  const acts = args.flags['allow-acts'] === true
  if (args.flags['local-sellers'] === true && !acts)
    throw new UsageError('--local-sellers needs --allow-acts: without it nothing is fetched')
  const access = accessOf(args, acts)
  const listen = textFlag(args, 'listen')
  if (listen !== undefined) return serveOverHttp(args, access, listen)
  if (textFlag(args, 'public-url') !== undefined) throw new UsageError('--public-url needs --listen')
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve))
  const served = serveStdio(serverFor(args, access), {
    transport: new StdioServerTransport(),
    onerror: ({ message }) => process.stderr.write(`bezant mcp: ${message}\n`),
  })
  await Promise.race([ended, waitForStopSignal({ underNpm: false })])
  await served.close()
  return 0
}

async function serveOverHttp(args: ParsedArgs, access: PlatformAccess, listen: string): Promise<number> {
  const at = listenAtOf(listen)
  const publicOrigin = publicOriginOf(textFlag(args, 'public-url'), at)
  const acting = access.entitySecret === undefined ? undefined : await entityOfKey(access.url, access.apiKey)
  if (acting && 'status' in acting)
    throw new Error(
      `--allow-acts with --listen asks the server for the entity of the secret, by BEZANT_API_KEY: ${acting.message}`,
    )
  const agentOf = openAgents(access.url, acting?.id, (apiKey, mayAct) =>
    serverFor(args, { ...access, apiKey, entitySecret: mayAct ? access.entitySecret : undefined }),
  )
  const server = await serveHosts({ ...at, publicOrigin, agentOf })
  process.stdout.write(`bezant mcp serves ${publicOrigin ?? server.listeningOrigin}/mcp\n`)
  await waitForStopSignal({ underNpm: false })
  await server.close()
  return 0
}

/** The tools of one agent, which keeps its purchases and its limit between connections. */
function serverFor(args: ParsedArgs, access: PlatformAccess) {
  const acts =
    access.entitySecret === undefined ? undefined : { buy: openBuyer(callerOfSellers(args, access)) }
  const limit = openCallLimit()
  const platformFor = (toolName: string) => askPlatform(access, toolName)
  return () => createToolServer({ acts, platformFor, limit })
}

/** The server, and the credentials for it. Those of a sandbox are public, and only used together. */
function accessOf(args: ParsedArgs, acts: boolean): PlatformAccess {
  const url = serverAddress(args, 'server')
  if (acts && new URL(url).protocol === 'http:' && !isLoopback(new URL(url)))
    throw new UsageError(
      `--allow-acts needs https: over http to ${new URL(url).host}, the key that encrypts the entity secret could be replaced on the way. Give an address with https, or that of a tunnel on this machine`,
    )
  const apiKey = commandKeyOf()
  const entitySecret = acts ? (commandSecretOf() ?? (apiKey ? undefined : sandboxEntitySecret)) : undefined
  if (acts && entitySecret === undefined)
    throw new UsageError(
      '--allow-acts needs the entity secret: set BEZANT_ENTITY_SECRET_FILE to the path of a file that has it',
    )
  if (entitySecret !== undefined && !/^[0-9a-fA-F]{64}$/.test(entitySecret))
    throw new UsageError('BEZANT_ENTITY_SECRET must be 64 hexadecimal digits')
  return { url, apiKey: apiKey ?? sandboxApiKey, entitySecret }
}

/** Agents choose what is fetched: nothing near this machine is, unless its user says so or tries things out in a sandbox. */
const callerOfSellers =
  (args: ParsedArgs, access: PlatformAccess): OutboundCaller =>
  async (call) => {
    if (args.flags['local-sellers'] === true) return createCaller('private')(call)
    return createCaller((await isSandbox(access)) ? 'loopback' : 'public')(call)
  }
