import { type CallFault, type Fault, lineFaults, readFaults, sendFaults } from './node-faults.ts'

/** The faults of nodes that a plan may name: those without parameters. */
export const faultsByReply: Readonly<Record<string, Fault>> = {
  ...lineFaults,
  ...sendFaults,
  ...Object.fromEntries(
    Object.entries(readFaults).filter(
      (entry): entry is [string, CallFault] => typeof entry[1] !== 'function',
    ),
  ),
}

export const nodeReplies = Object.keys(faultsByReply)
