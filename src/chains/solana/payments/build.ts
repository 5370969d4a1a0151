/**
 * Transactions of payments. Equal payments of one block would be one transaction, so that each carries its nonce in a limit that it
 * never reaches: of the bytes of accounts that it loads.
 */

import { isSignedByEd25519 } from '#lib/ed25519'
import { bytesOf, type Hex, hexOf } from '#lib/hex'
import { decodeBase58, encodeBase58 } from '../../addresses/base-encodings.ts'
import type { Address } from '../../addresses/types.ts'
import { Unreadable } from '../../binary-reader.ts'
import type { Call, Signature, UnsignedTransaction } from '../../facets/payments.ts'
import { ValueProblem } from '../../invalid-value.ts'
import type { Network } from '../../networks/index.ts'
import { compileMessage, type WrittenInstruction } from '../compile.ts'
import { associatedAccountOf } from '../derived-addresses.ts'
import { createAssociatedAccount, payLamports, u64Bytes } from '../instructions.ts'
import { programIds } from '../programs.ts'
import { readWireTransaction, type SolanaMessage, wireTransaction } from '../transaction.ts'
import { paymentOfCall, type SolanaPayment, solanaTransferCall, transferData } from './calls.ts'

/** More than the programs and accounts of any payment have, and fewer bytes than a transaction may load. */
const loadedBytesMin = 2 * 1024 * 1024
const loadedBytesMax = 64 * 1024 * 1024

/** The number of payments that one address can make. */
const noncesMax = loadedBytesMax - loadedBytesMin

const budget = { unitLimit: 2, unitPrice: 3, loadedBytes: 4 } as const

const u32Bytes = (value: bigint): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(Number(value))
  return bytes
}

const setBudget = (kind: keyof typeof budget, value: bigint): WrittenInstruction => ({
  program: programIds.computeBudget,
  accounts: [],
  data: Buffer.concat([Buffer.of(budget[kind]), kind === 'unitPrice' ? u64Bytes(value) : u32Bytes(value)]),
})

/** The instructions that make a payment. The payer of the fee also pays for the account of a token that the recipient lacks. */
function paymentInstructions(
  from: Address,
  payer: Address,
  { to, amountAtomic, token }: SolanaPayment,
): WrittenInstruction[] {
  if (token === undefined) return [payLamports(from, to, amountAtomic)]
  const { mint, decimals } = token
  const accountOf = (owner: Address) => ({
    address: associatedAccountOf(owner, mint, programIds.token),
    isWritable: true,
  })
  return [
    createAssociatedAccount(payer, to, mint),
    {
      program: programIds.token,
      accounts: [accountOf(from), { address: mint }, accountOf(to), { address: from, isSigner: true }],
      data: transferData(amountAtomic, decimals),
    },
  ]
}

/** The terms that a message carries beside its payment. */
type MessageTerms = Pick<UnsignedTransaction, 'nonce' | 'gasLimit' | 'maxFeeAtomic'>

const termsOf = ({ nonce, gasLimit, maxFeeAtomic }: MessageTerms): WrittenInstruction[] => [
  setBudget('loadedBytes', BigInt(loadedBytesMin + nonce)),
  setBudget('unitLimit', gasLimit),
  setBudget('unitPrice', maxFeeAtomic),
]

/** The message that the key of the sender signs, and that of the payer of the fee. */
export function solanaMessageOf(transaction: UnsignedTransaction): Buffer {
  const { from, feePayer = from, nonce, recentBlock } = transaction
  if (recentBlock === undefined) throw new Error('a transaction of this chain names a recent block')
  if (nonce >= noncesMax) throw new Error(`an address makes at most ${noncesMax} payments on this chain`)
  const payment = paymentInstructions(from, feePayer, paymentOfCall(transaction))
  return compileMessage(feePayer, [...termsOf(transaction), ...payment], recentBlock)
}

/** A message of a payment for a simulation, which needs neither terms nor a block. */
export const simulatedMessage = (from: Address, feePayer: Address, call: Call): Buffer =>
  compileMessage(feePayer, paymentInstructions(from, feePayer, paymentOfCall(call)), programIds.system)

const isSignedBy = (address: Address, message: Buffer, signature: Buffer): boolean =>
  isSignedByEd25519(decodeBase58(address)!, message, signature)

/** The signed transaction, which the first of its signatures names. Throws where one is missing, or not of its signer. */
export function withSolanaSignatures(
  transaction: UnsignedTransaction,
  { sender, feePayer }: { sender: Signature; feePayer?: Signature | undefined },
): { raw: Hex; hash: string } {
  const message = solanaMessageOf(transaction)
  const signatures: [Address, Signature | undefined][] = [[transaction.from, sender]]
  if (transaction.feePayer !== undefined) signatures.unshift([transaction.feePayer, feePayer])
  const checked = signatures.map(([address, signature]) => {
    if (!signature) throw new Error(`the signature of ${address}, which pays the fee, is missing`)
    if (signature.length !== 64 || !isSignedBy(address, message, signature))
      throw new Error(`the signature is not one of ${address} for this transaction`)
    return signature
  })
  return { raw: hexOf(wireTransaction(checked, message)), hash: encodeBase58(checked[0]!) }
}

/** Reads a payment that its keys signed; `undefined` for anything else. Never throws. */
export function readSignedSolanaPayment(network: Network, raw: Hex): UnsignedTransaction | undefined {
  try {
    const { signatures, message, messageBytes } = readWireTransaction(bytesOf(raw))
    const transaction = transactionIn(network, message)
    // Any other message with the same meaning is not one of this program.
    if (!transaction || !solanaMessageOf(transaction).equals(messageBytes)) return undefined
    const areOwn = message.signers.every((signer, place) =>
      isSignedBy(signer, messageBytes, signatures[place]!),
    )
    return areOwn ? transaction : undefined
  } catch (error) {
    if (error instanceof Unreadable || error instanceof ValueProblem) return undefined
    throw error
  }
}

function transactionIn(network: Network, message: SolanaMessage): UnsignedTransaction | undefined {
  const [loaded, limit, price, ...payment] = message.instructions
  if (!loaded || !limit || !price || loaded.data.length !== 5 || limit.data.length !== 5) return undefined
  if (price.data.length !== 9) return undefined
  const paid = paidBy(network, payment)
  if (!paid) return undefined
  const [payer] = message.signers
  const maxFeeAtomic = price.data.readBigUInt64LE(1)
  return {
    from: paid.from,
    ...paid.call,
    nonce: loaded.data.readUInt32LE(1) - loadedBytesMin,
    gasLimit: BigInt(limit.data.readUInt32LE(1)),
    maxFeeAtomic,
    priorityFeeAtomic: maxFeeAtomic,
    recentBlock: message.blockhash,
    ...(payer !== paid.from && { feePayer: payer! }),
  }
}

/** The sender and the call of the last instructions of a payment. */
function paidBy(
  network: Network,
  instructions: SolanaMessage['instructions'],
): { from: Address; call: Call } | undefined {
  const [first, second] = instructions
  if (first?.program === programIds.system && first.data.length === 12 && instructions.length === 1) {
    const [from, to] = first.accounts
    const amount = first.data.readBigUInt64LE(4)
    return from === undefined || to === undefined
      ? undefined
      : { from, call: solanaTransferCall(network, to, amount) }
  }
  const to = first?.accounts[2]
  const [, mint, , from] = second?.accounts ?? []
  if (second?.data.length !== 10 || to === undefined || mint === undefined || from === undefined)
    return undefined
  return {
    from,
    call: solanaTransferCall(network, to, second.data.readBigUInt64LE(1), mint, second.data[9]!),
  }
}
