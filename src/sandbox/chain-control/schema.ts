import Type from 'typebox'
import { fates } from '../chains/local-chain.ts'
import { intervalMaxS, minedMax } from './mine.ts'
import { coins } from './payment.ts'
import { depthMax } from './reorg.ts'
import { chainStateSchema } from './state.ts'

const text = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })
const hash = (description: string) => Type.String({ description })
const coin = Type.Enum([...coins], { description: 'The coin: NATIVE is the one that gas is paid with.' })
const amount = text('The amount in whole coins, as a decimal number: "20.5".')
const count = (maximum: number, description: string) => Type.Integer({ minimum: 1, maximum, description })

export const localChainParams = Type.Object({
  blockchain: text('The blockchain, such as BASE-SEPOLIA: one of GET /sandbox/chains.'),
})

export const chainsSchema = Type.Array(chainStateSchema, { description: 'The chains of the sandbox.' })

export const mineBody = Type.Object({
  blocks: Type.Optional(count(minedMax, 'The number of blocks. Default 1.')),
  intervalS: Type.Optional(
    count(intervalMaxS, 'The seconds between the times of two blocks. Without it, each is mined now.'),
  ),
})

export const intervalBody = Type.Object({
  seconds: Type.Integer({
    minimum: 0,
    maximum: intervalMaxS,
    description: 'The seconds between two blocks; 0 mines each transaction at once.',
  }),
})

export const baseFeeBody = Type.Object({
  gwei: text('The base fee in gwei, as a decimal number: "30.5".'),
  blocks: Type.Optional(count(minedMax, 'The number of blocks that it holds for. Default 1, the next one.')),
})

export const reorgBody = Type.Object({
  depth: count(depthMax, 'The number of blocks to replace, from the newest one down.'),
  transactions: Type.Optional(
    Type.Enum([...fates], {
      description:
        'What becomes of the transactions of these blocks: they return to the pool and are mined again; they are dropped; or those of other senders than the platform are replaced by a payment of nothing of the same sender with the same nonce, so that they can never be mined, and those of the platform return. Default return.',
    }),
  ),
  newBlocks: Type.Optional(
    count(minedMax, 'The number of empty blocks in their place, at least depth. Default depth.'),
  ),
})

const hashes = (description: string) => Type.Array(hash('A hash.'), { description })

export const reorgSchema = Type.Object(
  {
    orphaned: hashes('The blocks that are replaced, newest first.'),
    returned: hashes('The transactions that are in the pool again, or in a new block by now.'),
    replaced: Type.Array(
      Type.Object(
        {
          txHash: hash('The hash of the transaction that can never be mined.'),
          by: hash('The hash of the one that takes its place.'),
        },
        { title: 'ReplacedTransaction', description: 'A transaction and the one in its place.' },
      ),
      { description: 'The transactions in whose place the sender sent another one.' },
    ),
    dropped: hashes('The transactions that only the replaced blocks had.'),
    head: Type.Object(
      {
        number: Type.Integer({ description: 'The number of the block.' }),
        hash: hash('The hash of the block.'),
      },
      { description: 'The newest block, which is indexed.' },
    ),
  },
  { title: 'SandboxReorg', description: 'A reorg that the platform has followed.' },
)

export const dropBody = Type.Object({ txHash: text('The hash of a transaction that no block includes.') })

export const impersonateBody = Type.Object({
  address: text('The address that sends: any, also one whose key nobody has.'),
  transfer: Type.Optional(
    Type.Object(
      { to: text('The address to pay.'), token: coin, amount },
      { description: 'A payment; or give `call`.' },
    ),
  ),
  call: Type.Optional(
    Type.Object(
      {
        to: text('The contract.'),
        data: Type.String({
          pattern: '^0x([0-9a-fA-F]{2})*$',
          maxLength: 60_000,
          description: 'The call data, in hexadecimal.',
        }),
        value: Type.Optional(text('Native coins to send with it, in whole coins.')),
      },
      { description: 'A call of a contract; or give `transfer`.' },
    ),
  ),
})

export const faucetBody = Type.Object({
  address: text('The address to pay.'),
  blockchain: text('The blockchain to pay on.'),
  token: coin,
  amount,
})

export const sentSchema = Type.Object(
  {
    txHash: hash('The hash of the transaction.'),
    status: Type.Enum(['mined', 'reverted', 'unmined'], {
      description: 'Whether a block includes it, and it did what it says; unmined on a chain that is paused.',
    }),
    blockNumber: Type.Optional(Type.Integer({ description: 'The number of the block that includes it.' })),
  },
  { title: 'SandboxTransaction', description: 'A transaction that a sandbox has sent.' },
)
