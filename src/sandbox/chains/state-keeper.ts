import type { Mining } from './mining.ts'
import type { LocalNode } from './node.ts'
import type { Reply } from './rpc.ts'

/** Persistence of a chain's state beyond its node, if any. */
export type StateKeeper = {
  /** Starts a node with the persisted state and the right mining mode. */
  open(mining: Mining): Promise<LocalNode>
  /** Forwards a request that may change the chain, and records the data that a later `open` needs. */
  write(node: LocalNode, body: Buffer): Promise<Reply>
  /** Runs `work` while no other write and no persist runs. */
  alone<T>(work: () => Promise<T>): Promise<T>
  /** The newest block that the node loaded in place of mining it: it can reorganise the later ones only. */
  loadedTo(): number
  /** Writes the current state, so that it no longer depends on the journal. */
  persist(node: LocalNode): Promise<void>
  /** Copies the files that give the chain as it is now to a new directory. */
  copyTo(directory: string): Promise<void>
  /** Closes the files as they are, once nothing writes them; the node has ended. */
  abandon(): Promise<void>
  /** Persists for the last time and closes the files; the caller ends the node. */
  close(node: LocalNode): Promise<void>
}
