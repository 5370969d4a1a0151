import {
  decodeAbiParameters,
  encodeAbiParameters,
  encodeFunctionData,
  hashTypedData,
  keccak256,
  parseAbiParameters,
  toHex,
} from 'viem'
import type { Hex } from '#lib/hex'
import { canonicalAddress } from '../../addresses/canonical.ts'
import type { Address } from '../../addresses/types.ts'
import type { BurnQuote, BurnQuotes } from '../../crosschain/fee-quotes.ts'
import { quantity } from '../rpc/quantities.ts'
import { tokenMessengerWithFeesAbi } from './artifacts/token-messenger-with-fees.ts'
import { decodeExecutorHook } from './executor-hook.ts'
import type { ReadContract } from './left-calls.ts'

const fields = [
  { name: 'amount', type: 'uint256' },
  { name: 'destinationDomain', type: 'uint32' },
  { name: 'burnToken', type: 'address' },
  { name: 'feeToken', type: 'address' },
  { name: 'feeRecipient', type: 'address' },
  { name: 'isFast', type: 'bool' },
  { name: 'fastFee', type: 'uint256' },
  { name: 'isForwarded', type: 'bool' },
  { name: 'forwardFee', type: 'uint256' },
  { name: 'forwardArgs', type: 'bytes32' },
  { name: 'executor', type: 'bytes32' },
  { name: 'nonce', type: 'uint256' },
  { name: 'expiresAt', type: 'uint256' },
] as const

const signedParameters = [{ type: 'tuple', components: fields }, { type: 'bytes' }] as const
const forwardParameters = parseAbiParameters('bytes32 destinationCaller, bytes hookData')

type EncodedQuote = BurnQuote & { [name in 'burnToken' | 'feeToken' | 'feeRecipient']: Hex }

/** The contracts that take quotes, by the names of their domains (EIP-712). */
type QuotedContract = 'TokenMessengerWithFees' | 'CrossChainTokenService'

/** The quotes that the contract at this address takes. */
export const feeQuotesAt = (
  chainId: number,
  contract: Address,
  read: ReadContract,
  name: QuotedContract = 'TokenMessengerWithFees',
): BurnQuotes => ({
  digest: (quote) =>
    hashTypedData({
      domain: { name, version: '1', chainId, verifyingContract: contract as Hex },
      types: { FeeQuote: fields },
      primaryType: 'FeeQuote',
      message: quote as EncodedQuote,
    }),
  encode: (quote, signature) => encodeAbiParameters(signedParameters, [quote as EncodedQuote, signature]),
  decode: decodeSignedQuote,
  forwardArgs: (destinationCaller, hookData) =>
    keccak256(encodeAbiParameters(forwardParameters, [destinationCaller, hookData])),
  amountArgs: (amount) => keccak256(toHex(amount, { size: 32 })),
  isUsed: async (nonce) =>
    quantity(
      await read(
        contract,
        encodeFunctionData({ abi: tokenMessengerWithFeesAbi, functionName: 'isQuoteUsed', args: [nonce] }),
      ),
      'use of a quote',
    ) !== 0n,
  isExecutable: (hookData) => decodeExecutorHook(hookData) !== undefined,
})

/** The quote in the bytes that the contract takes; `undefined` for others. */
export function decodeSignedQuote(signedQuote: Hex): { quote: BurnQuote; signature: Hex } | undefined {
  try {
    const [quote, signature] = decodeAbiParameters(signedParameters, signedQuote)
    const { burnToken, feeToken, feeRecipient } = quote
    const addresses = {
      burnToken: canonical(burnToken),
      feeToken: canonical(feeToken),
      feeRecipient: canonical(feeRecipient),
    }
    return { signature, quote: { ...quote, ...addresses } }
  } catch {
    return undefined
  }
}

const canonical = (address: string) => canonicalAddress(address) as Address
