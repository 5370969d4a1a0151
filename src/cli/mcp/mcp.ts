import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { createToolServer } from '#api/mcp/server'
import { commandKeyOf } from '#runtime/config'
import { sandboxApiKey } from '#sandbox/credentials'
import { serverOptions } from '../ask-server.ts'
import type { Command, ParsedArgs } from '../command.ts'
import { serverAddress } from '../server-address.ts'
import { waitForStopSignal } from '../stop-signal.ts'
import { askPlatform } from './ask-platform.ts'

export const mcpCommand: Command = {
  usage: `bezant mcp [--url URL]

Serves the Model Context Protocol on standard input and output: a host of agents starts this command,
and its agents read wallets, balances, transactions, timelines and policies. It asks a running server,
with the API key in BEZANT_API_KEY, or in the file that BEZANT_API_KEY_FILE names; without one with the
public key of a sandbox.`,
  options: serverOptions,
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const access = { url: serverAddress(args, 'server'), apiKey: commandKeyOf() ?? sandboxApiKey }
  const transport = new StdioServerTransport()
  const ended = new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve))
  const served = serveStdio(
    () => createToolServer({ acts: false, platformFor: (toolName) => askPlatform(access, toolName) }),
    {
      transport,
      onerror: ({ message }) => process.stderr.write(`bezant mcp: ${message}\n`),
    },
  )
  await Promise.race([ended, waitForStopSignal({ underNpm: false })])
  await served.close()
  return 0
}
