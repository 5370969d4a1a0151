import type { SlotBlock } from './blocks.ts'
import { SolanaRpcError } from './errors.ts'
import { accountAfter, finalizedBlock, headBlock, type SolanaLedger } from './ledger.ts'
import type { VmAccount } from './vm.ts'

type Commitment = 'processed' | 'confirmed' | 'finalized'

/** Lies and failures of one endpoint. Other endpoints of the ledger know nothing of them. */
export type RpcFaults = {
  /** Blocks that it is behind. */
  lagBlocks?: number
  /** The genesis hash that it says. */
  genesisHash?: string
  /** Signatures of transactions that it shows nowhere. */
  hidden?: readonly string[]
  /** Whether it accepts transactions and keeps none of them. */
  losesTransactions?: boolean
  /** Whether blocks have no time. */
  omitsBlockTime?: boolean
  /** Whether it ends the connection in place of an answer, of submissions alone or always. */
  dropsAnswers?: 'submissions' | 'always'
  /** An answer in place of the node's, which does not learn of the request; undefined leaves it to the node. */
  answerInstead?: (request: { method: string; params: readonly unknown[] }) => unknown
}

/** The ledger as an endpoint shows it. */
export type SolanaView = {
  ledger: SolanaLedger
  faults: RpcFaults
  head: SlotBlock
  finalized: SlotBlock
  /** The newest block of a commitment. */
  at(commitment: Commitment): SlotBlock
  account(address: string, block: SlotBlock): VmAccount | undefined
}

export function solanaViewOf(ledger: SolanaLedger, faults: RpcFaults): SolanaView {
  const head = behind(ledger, headBlock(ledger), faults)
  const finalized = behind(ledger, finalizedBlock(ledger), faults)
  return {
    ledger,
    faults,
    head,
    finalized,
    at: (commitment) => (commitment === 'finalized' ? finalized : head),
    account: (address, block) => accountAfter(ledger, address, block),
  }
}

const behind = ({ blocks }: SolanaLedger, { height }: SlotBlock, { lagBlocks = 0 }: RpcFaults): SlotBlock =>
  blocks[Math.max(0, height - lagBlocks)]!

/** The block that a read is of, by its commitment; throws where the endpoint has not the slot that the caller has seen. */
export function blockFor(view: SolanaView, config: ReadConfig): SlotBlock {
  const block = view.at(commitmentOf(config.commitment))
  if (config.minContextSlot !== undefined && block.slot < config.minContextSlot)
    throw new SolanaRpcError('minContextSlot', 'Minimum context slot has not been reached', {
      contextSlot: block.slot,
    })
  return block
}

type ReadConfig = { commitment?: unknown; minContextSlot?: number }

/** The older names of commitments are those of nodes before 1.5. */
export function commitmentOf(value: unknown): Commitment {
  if (value === undefined || value === null || value === 'finalized' || value === 'max' || value === 'root')
    return 'finalized'
  if (value === 'processed' || value === 'recent') return 'processed'
  if (value === 'confirmed' || value === 'single' || value === 'singleGossip') return 'confirmed'
  throw new SolanaRpcError(
    'invalidParams',
    `Invalid params: unknown variant \`${String(value)}\`, expected one of \`processed\`, \`confirmed\`, \`finalized\`.`,
  )
}
