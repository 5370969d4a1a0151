/**
 * Signatures of contracts (ERC-1271). The wallet contract does not check them: the service asks the contract beforehand, and signs
 * the intents in its name with a key that the wallet contract knows for that.
 */
import { encodeFunctionData, parseAbi } from 'viem'
import { type Hex, isHex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { ContractVerdict, SignedDigest } from '../../crosschain/crosschain.ts'
import type { BlockAt } from '../../facets/blocks.ts'
import { isHalt, isRevert, outOfGas } from '../contracts/revert.ts'
import { isEndpointFault, isLimited } from '../rpc/endpoint-faults.ts'
import type { Endpoints } from '../rpc/endpoints.ts'
import { quantity, toQuantity } from '../rpc/quantities.ts'
import { NodeUnreachable, type Rpc, RpcError } from '../rpc/rpc.ts'
import { AnswerTooLarge } from '../rpc/rpc-errors.ts'
import { gatewayWalletAbi } from './artifacts/gateway-wallet.ts'

const abi = parseAbi(['function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)'])

/** The answer of a contract that takes the signature: the selector of the function, in a word. */
const accepting = `0x1626ba7e${'0'.repeat(56)}`

/** Enough for several passkeys where the chain has no precompile for them. */
const gasMax = 2_000_000n
/** The contract is of a stranger: it decides how long a node works on the answer, and how long that is. */
const limits = { timeoutMs: 5_000, answerBytesMax: 64 * 1024 }

type ReadAgreed = (to: Address, data: Hex) => Promise<unknown>

/** Whether the wallet contract burns by what `signer` signs in the name of contracts. One of an earlier version by nothing. */
export const signsForContracts = (read: ReadAgreed, wallet: Address, signer: Address): Promise<boolean> =>
  isTold(
    read,
    wallet,
    encodeFunctionData({
      abi: gatewayWalletAbi,
      functionName: 'isContractSignatureSigner',
      args: [signer as Hex],
    }),
  )

/** Whether the wallet contract settles payments by the signature of `signer`, and is not paused. */
export async function settlesPayments(read: ReadAgreed, wallet: Address, signer: Address): Promise<boolean> {
  const abi = gatewayWalletAbi
  const hasFunction = encodeFunctionData({ abi, functionName: 'paymentsVersion' })
  const isSigner = encodeFunctionData({ abi, functionName: 'isBurnSigner', args: [signer as Hex] })
  const isPaused = encodeFunctionData({ abi, functionName: 'paused' })
  return (
    (await isTold(read, wallet, hasFunction)) &&
    (await isTold(read, wallet, isSigner)) &&
    !(await isTold(read, wallet, isPaused))
  )
}

/** Whether a contract answers with anything but zero; one that lacks the function does not. */
async function isTold(read: ReadAgreed, contract: Address, data: Hex): Promise<boolean> {
  try {
    return quantity(await read(contract, data), 'answer of a contract') !== 0n
  } catch (error) {
    if (error instanceof RpcError && isRevert(error)) return false
    throw error
  }
}

/** The answer of a contract about a signature at a block. As many endpoints as an irreversible conclusion needs have to hear it accept. */
export async function contractVerdict(
  rpc: Endpoints,
  signed: SignedDigest,
  block: BlockAt,
): Promise<ContractVerdict> {
  const verdict = await verdictOf(rpc, signed, block)
  if (verdict !== 'accepted' || rpc.agreeing === 1) return verdict
  const { verdict: agreement, said } = await rpc.agreedOn(verdict, (one) => verdictOf(one, signed, block))
  if (agreement === 'agreed') return verdict
  throw new NodeUnreachable(`the endpoints do not agree on a signature of a contract: ${said.join(', ')}`)
}

async function verdictOf(
  rpc: Rpc,
  { account, digest, signature }: SignedDigest,
  { hash }: BlockAt,
): Promise<ContractVerdict> {
  const at = { blockHash: hash }
  const data = encodeFunctionData({ abi, functionName: 'isValidSignature', args: [digest, signature] })
  try {
    const call = { to: account, data, gas: toQuantity(gasMax) }
    const answer = await rpc.call<unknown>('eth_call', [call, at], limits)
    if (!isHex(answer)) throw new NodeUnreachable('the answer to a call is not hexadecimal')
    if (answer.slice(0, accepting.length).toLowerCase() === accepting) return 'accepted'
    if (answer !== '0x') return 'refused'
    return (await rpc.call('eth_getCode', [account, at], limits)) === '0x' ? 'no contract' : 'refused'
  } catch (error) {
    if (error instanceof AnswerTooLarge) return 'refused'
    if (!(error instanceof RpcError) || isLimited(error)) throw error
    if (isRevert(error) || isHalt(error) || outOfGas.test(error.message)) return 'refused'
    if (!isEndpointFault(error)) return 'refused'
    throw new NodeUnreachable(`the node does not tell about a signature of a contract: ${error.message}`)
  }
}
