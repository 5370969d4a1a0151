import { type Command, chooseAction, numberFlag, type ParsedArgs, textFlag, UsageError } from '../command.ts'
import { askSandbox, labOptions } from './client.ts'
import { printList, printOne } from './print.ts'

export const labChainCommand: Command = {
  usage: `bezant sandbox chain list
       bezant sandbox chain mine BLOCKCHAIN [--blocks N] [--interval SECONDS]
       bezant sandbox chain pause BLOCKCHAIN
       bezant sandbox chain resume BLOCKCHAIN
       bezant sandbox chain interval BLOCKCHAIN SECONDS
       bezant sandbox chain base-fee BLOCKCHAIN GWEI [--blocks N]
       bezant sandbox chain reorg BLOCKCHAIN [--depth N] [--transactions FATE] [--new-blocks N]
       bezant sandbox chain drop BLOCKCHAIN TXHASH

mine adds blocks, also to a chain that is paused. pause keeps transactions unmined until resume or
mine. interval mines every so many seconds, and 0 each transaction at once again. base-fee sets the
fee of the next blocks in gwei. reorg replaces the newest blocks by empty ones and returns when the
platform has followed. drop removes an unmined transaction from the node. A chain whose blocks are
final, such as APTOS-TESTNET, has no base-fee and no reorg; SOL-DEVNET has no base-fee.`,
  takesArguments: true,
  options: {
    blocks: { type: 'string', value: 'N', about: 'Number of blocks.', default: '1' },
    interval: { type: 'string', value: 'SECONDS', about: 'Seconds between the times of mined blocks.' },
    depth: { type: 'string', value: 'N', about: 'Number of blocks that a reorg replaces.', default: '1' },
    transactions: {
      type: 'string',
      value: 'FATE',
      about: 'Fate of the transactions of replaced blocks: return, drop or replace.',
      default: 'return',
    },
    'new-blocks': {
      type: 'string',
      value: 'N',
      about: 'Number of blocks in place of the replaced ones.',
      default: '--depth',
    },
    ...labOptions,
  },
  run,
}

async function run(args: ParsedArgs): Promise<number> {
  await chooseAction('sandbox chain', args, actions)(args)
  return 0
}

type ChainRow = {
  blockchain: string
  headNumber: number
  headHash: string
  mining: string
  intervalS?: number
  unmined: number
  baseFeeGwei?: string
  rpcUrl: string
}
type ReorgRow = {
  orphaned: string[]
  returned: string[]
  replaced: { txHash: string; by: string }[]
  dropped: string[]
  head: { number: number; hash: string }
}

const columns = [
  'blockchain',
  'headNumber',
  'headHash',
  'mining',
  'intervalS',
  'unmined',
  'baseFeeGwei',
] as const

const actions: Record<string, (args: ParsedArgs) => Promise<void>> = {
  list: async (args) =>
    printList(args, await askSandbox<ChainRow[]>(args, 'GET', '/sandbox/chains'), columns),
  mine: (args) =>
    change(args, 'mine', {
      blocks: numberFlag(args, 'blocks', numberMax),
      intervalS: numberFlag(args, 'interval', numberMax),
    }),
  pause: (args) => change(args, 'pause'),
  resume: (args) => change(args, 'resume'),
  interval: (args) => change(args, 'interval', { seconds: secondsOf(args) }),
  'base-fee': (args) =>
    change(args, 'base-fee', {
      gwei: thirdOf(args, 'a fee in gwei, such as 30.5'),
      blocks: numberFlag(args, 'blocks', numberMax),
    }),
  reorg: async (args) => {
    const reorg = await on<ReorgRow>(args, 'reorg', {
      depth: numberFlag(args, 'depth', numberMax) ?? 1,
      transactions: textFlag(args, 'transactions'),
      newBlocks: numberFlag(args, 'new-blocks', numberMax),
    })
    printOne(args, reorg)
  },
  drop: (args) => change(args, 'drop', { txHash: thirdOf(args, 'the hash of a transaction') }),
}

/** The sandbox knows the limits. */
const numberMax = 999_999_999

/** Changes a chain, and shows it as it is then. */
const change = async (args: ParsedArgs, verb: string, body?: object) =>
  printList(args, [await on<ChainRow>(args, verb, body)], columns)

function on<Data>(args: ParsedArgs, verb: string, body?: object): Promise<Data> {
  const {
    positionals: [action, blockchain],
  } = args
  if (blockchain === undefined)
    throw usage(`${action} needs a blockchain, such as BASE-SEPOLIA: bezant sandbox chain list shows them`)
  const name = encodeURIComponent(blockchain.toUpperCase())
  return askSandbox(args, 'POST', `/sandbox/chains/${name}/${verb}`, body)
}

function thirdOf({ positionals: [action, , value] }: ParsedArgs, what: string): string {
  if (value !== undefined) return value
  throw usage(`${action} needs a blockchain and ${what}`)
}

function secondsOf(args: ParsedArgs): number {
  const text = thirdOf(args, 'a number of seconds')
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw usage(`SECONDS must be a whole number, not "${text}"`)
}

const usage = (problem: string) => new UsageError(`${problem}\nSee: bezant sandbox chain --help`)
