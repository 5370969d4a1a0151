import { edit, engine, type Mutant, proof } from './mutant.ts'

const follow = `${engine}/follow.ts`
const attempts = `${engine}/store/attempts.ts`
const halted = proof('src/cli/chain.test.ts', 'property 67: a halted chain signs nothing')
const reorgs = proof('src/engines/indexer/reorgs.test.ts', 'property 20')

/** Blocks, reorgs and finality: bugs here book a payment that no canonical block contains, or miss one. */
export const blockMutants: readonly Mutant[] = [
  {
    name: 'first-receipt-is-final',
    about: 'complete at the first confirmation',
    edits: [
      edit(
        follow,
        'tx: Db, { blockchain, completeTo }: Step)',
        'tx: Db, { blockchain, blockNumber: completeTo }: Step)',
      ),
    ],
    test: proof(`${engine}/finality.test.ts`, 'property 20'),
  },
  {
    name: 'inbound-never-undone',
    about: 'an incoming transfer of an orphaned block stays',
    edits: [
      edit(
        `${engine}/receive.ts`,
        'await failInbound(tx, ctx.clock.nowMs(), blockchain, blockHash)',
        '[] as { entityId: string; id: string }[]',
      ),
    ],
    test: proof(`${engine}/reorg.test.ts`, 'property 20: an inbound transfer'),
  },
  {
    name: 'postings-never-reversed',
    about: 'the postings of an orphaned block stay in the books',
    edits: [
      edit(
        'src/engines/indexer/reorg.ts',
        'await reversePostings(tx, ctx.clock.nowMs(), blockchain, head.hash)',
        'void reversePostings',
      ),
    ],
    test: reorgs,
  },
  {
    name: 'parent-unchecked',
    about: 'a block is applied on top of a block that is not its parent',
    edits: [
      edit(
        'src/engines/indexer/catch-up.ts',
        'block.number === number && (parent === undefined || block.parentHash === parent.hash)',
        'block.number === number && (parent === undefined || parent !== undefined)',
      ),
    ],
    test: reorgs,
  },
  {
    name: 'blocks-skipped',
    about: 'after downtime only the newest blocks are read',
    edits: [
      edit(
        'src/engines/indexer/catch-up.ts',
        'head ? head.number + 1 :',
        'head ? Math.max(head.number + 1, target.number - 10) :',
      ),
      edit(
        'src/engines/indexer/catch-up.ts',
        'block.number === number && (parent === undefined || block.parentHash === parent.hash)',
        'block.number === number && (parent === undefined || block.number > parent.number)',
      ),
    ],
    test: proof('src/engines/indexer/follow.test.ts', 'applies every block that was mined'),
  },
  {
    name: 'complete-is-final',
    about: 'a complete transaction counts as final before the node reports its block as finalized',
    edits: [
      edit(
        'src/engines/indexer/confirmations.ts',
        'finalTo: final === undefined ? undefined : Math.min(completeTo, final)',
        'finalTo: final === undefined ? undefined : completeTo',
      ),
    ],
    test: proof(`${engine}/final-tag.test.ts`, 'property 20: a reorg reopens'),
  },
  {
    name: 'halted-chain-signs',
    about: 'transactions are signed on a halted chain',
    edits: [edit(attempts, '&& !(await isHalted(tx, blockchain))', '')],
    test: halted,
  },
]
