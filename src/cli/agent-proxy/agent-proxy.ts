import { readKeyText } from '#runtime/auth/key-text'
import { commandKeyOf } from '#runtime/config'
import { sandboxApiKey } from '#sandbox/credentials'
import { serverOptions } from '../ask-server.ts'
import { type Command, type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { listenAtOf, publicOriginOf } from '../listen-address.ts'
import { entityOfKey } from '../mcp/agents.ts'
import { isSandbox } from '../mcp/ask-platform.ts'
import { serverAddress } from '../server-address.ts'
import { waitForStopSignal } from '../stop-signal.ts'
import { readServices } from './paid-services.ts'
import { serveAgentProxy } from './proxy.ts'

export const agentProxyCommand: Command = {
  usage: `bezant agent-proxy [--listen [HOST:]PORT [--public-url URL]] [--emails LIST] [--services FILE] [--url URL]

Lets the circle command-line tool (@circle-fin/cli) use a running server: set CIRCLE_PROXY_URL of the tool
to the address that this command prints, and CIRCLE_DISCOVERY_URL to the same with
/v2/x402/discovery/resources. Users log in by e-mail, and their agents hold wallets, pay and sign. This
server keeps the keys of these users under its root key: see docs/circle-cli.md.

It asks the server with the API key in BEZANT_API_KEY, or in the file that BEZANT_API_KEY_FILE names;
without a key with the public one of a sandbox.`,
  options: {
    listen: {
      type: 'string',
      value: '[HOST:]PORT',
      about: 'Where the tool finds this command; without a host at 127.0.0.1.',
      default: '4040',
    },
    'public-url': {
      type: 'string',
      value: 'URL',
      about: 'The origin that the tool uses, of a proxy with https before --listen.',
    },
    emails: {
      type: 'string',
      value: 'LIST',
      about:
        'Addresses that may log in, and domains such as *@example.com, with commas. In a sandbox every address may.',
    },
    services: {
      type: 'string',
      value: 'FILE',
      about: 'A list in JSON of the paid services that circle services search finds.',
    },
    ...serverOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const at = listenAtOf(textFlag(args, 'listen') ?? '4040')
  const publicOrigin = publicOriginOf(textFlag(args, 'public-url'), at)
  const emails = emailsIn(textFlag(args, 'emails'))
  const services = readServices(textFlag(args, 'services'))
  const url = serverAddress(args, 'server')
  const apiKey = commandKeyOf() ?? sandboxApiKey
  const entity = await entityOfKey(url, apiKey)
  if ('status' in entity) throw new Error(`the server refuses BEZANT_API_KEY: ${entity.message}`)
  if (!emails) await requireSandbox({ url, apiKey })
  const environment = readKeyText(apiKey)?.prefix.startsWith('LIVE') ? 'live' : 'test'
  const proxy = {
    ...at,
    publicOrigin,
    url,
    apiKey,
    environment,
    appId: entity.id,
    services,
    emails,
  } as const
  const server = await serveAgentProxy(proxy)
  process.stdout.write(`CIRCLE_PROXY_URL=${publicOrigin ?? server.listeningOrigin}\n`)
  await waitForStopSignal({ underNpm: false })
  await server.close()
  return 0
}

/** Reads who may log in; undefined without the option. */
function emailsIn(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined
  const listed = text
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
  const unfit = listed.find((each) => !/^(\*|[^\s@*]+)@[^\s@*]+\.[^\s@*]+$/.test(each))
  if (unfit !== undefined)
    throw new UsageError(`--emails must be addresses, or domains such as *@example.com, not "${unfit}"`)
  return listed
}

/** Each login makes rows and wallets, and sends a mail: outside of a sandbox, addresses are listed. */
async function requireSandbox(access: { url: string; apiKey: string }): Promise<void> {
  if (await isSandbox({ ...access, entitySecret: undefined })) return
  throw new UsageError('--emails is needed outside of a sandbox: list who may log in, such as *@example.com')
}
