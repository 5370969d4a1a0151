import {
  type Address,
  domainSeparator,
  encodeAbiParameters,
  encodeFunctionData,
  parseAbiParameters,
} from 'viem'
import { type Hex, hexOf } from '#lib/hex'
import { batchedPaymentsDomain } from '../../crosschain/batched-payments.ts'
import type { PaymentBatch, SignedBurn } from '../../crosschain/crosschain.ts'
import { gatewayMinterAbi } from './artifacts/gateway-minter.ts'
import { gatewayWalletAbi } from './artifacts/gateway-wallet.ts'

const burnParameters = parseAbiParameters('bytes[] intents, bytes[] signatures, uint256[][] fees')

/** The bytes that a burn signer signs (`payloadDigest`) and that `gatewayBurn` takes. */
export const burnPayload = (burns: readonly SignedBurn[]): Hex =>
  encodeAbiParameters(burnParameters, [
    burns.map(({ intents }) => hexOf(intents)),
    burns.map(({ signature }) => signature),
    burns.map(({ feesAtomic }) => feesAtomic),
  ])

/** The call of the wallet contract that burns; `signature` is the burn signer's, of 65 bytes. */
export const gatewayBurnCall = (payload: Hex, signature: Hex): Hex =>
  encodeFunctionData({ abi: gatewayWalletAbi, functionName: 'gatewayBurn', args: [payload, signature] })

const paymentsParameters = parseAbiParameters(
  'uint32 domain, address wallet, bytes32 batch, address token, address[] payers, uint256[] debits, address[] payees, uint256[] credits',
)

/** The bytes that a burn signer signs (`payloadDigest`) and that `settlePayments` takes. */
export const paymentsPayload = (
  domain: number,
  wallet: Address,
  { id, token, debits, credits }: PaymentBatch,
): Hex =>
  encodeAbiParameters(paymentsParameters, [
    domain,
    wallet,
    id,
    token as Address,
    debits.map(({ depositor }) => depositor as Address),
    debits.map(({ amountAtomic }) => amountAtomic),
    credits.map(({ depositor }) => depositor as Address),
    credits.map(({ amountAtomic }) => amountAtomic),
  ])

/** The call of the wallet contract that settles a batch of payments; `signature` is the burn signer's, of 65 bytes. */
export const settlePaymentsCall = (payload: Hex, signature: Hex): Hex =>
  encodeFunctionData({ abi: gatewayWalletAbi, functionName: 'settlePayments', args: [payload, signature] })

/** The domain for which payers sign payments: that of published clients. */
export const paymentsSeparator = (chainId: number, verifyingContract: Address): Hex =>
  domainSeparator({
    domain: { ...batchedPaymentsDomain, chainId, verifyingContract },
  })

/** The call of the minter contract that mints; `signature` is the attestation signer's, of 65 bytes. */
export const gatewayMintCall = (attestationPayload: Hex, signature: Hex): Hex =>
  encodeFunctionData({
    abi: gatewayMinterAbi,
    functionName: 'gatewayMint',
    args: [attestationPayload, signature],
  })
