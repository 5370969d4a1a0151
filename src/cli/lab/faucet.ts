import { type Command, type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { askSandbox, labOptions } from './client.ts'
import { printOne } from './print.ts'

export const faucetCommand: Command = {
  usage: `bezant sandbox faucet ADDRESS --blockchain BLOCKCHAIN --amount AMOUNT [--token TOKEN]

Pays any amount of a coin to any address, as often as you like, and returns when it is mined.`,
  takesArguments: true,
  options: {
    blockchain: { type: 'string', value: 'BLOCKCHAIN', about: 'Blockchain to pay on, such as BASE-SEPOLIA.' },
    token: { type: 'string', value: 'TOKEN', about: 'NATIVE, USDC or EURC.', default: 'USDC' },
    amount: { type: 'string', value: 'AMOUNT', about: 'Amount in whole coins, such as 20.5.' },
    ...labOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  const [address] = args.positionals
  if (address === undefined) throw usage('faucet needs an address')
  const body = {
    address,
    blockchain: required(args, 'blockchain').toUpperCase(),
    token: (textFlag(args, 'token') ?? 'USDC').toUpperCase(),
    amount: required(args, 'amount'),
  }
  printOne(args, await askSandbox<Record<string, unknown>>(args, 'POST', '/sandbox/faucet', body))
  return 0
}

function required(args: ParsedArgs, name: string): string {
  const value = textFlag(args, name)
  if (value !== undefined) return value
  throw usage(`faucet needs --${name}`)
}

const usage = (problem: string) => new UsageError(`${problem}\nSee: bezant sandbox faucet --help`)
