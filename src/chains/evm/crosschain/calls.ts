import { encodeFunctionData } from 'viem'
import type { Hex } from '#lib/hex'
import type { Address } from '../../addresses/types.ts'
import type { CrosschainBurn } from '../../crosschain/crosschain.ts'
import { finalizedThreshold } from '../../crosschain/message.ts'
import { stablecoinAbi } from '../abi/stablecoin.ts'
import { genericExecutorAbi } from './artifacts/generic-executor.ts'
import { messageTransmitterV2Abi } from './artifacts/message-transmitter-v2.ts'
import { tokenMessengerV2Abi } from './artifacts/token-messenger-v2.ts'

/** The call of a token that lets the token messenger take this amount, and no more. */
export const allowanceCall = (tokenMessenger: Address, amountAtomic: bigint): Hex =>
  encodeFunctionData({
    abi: stablecoinAbi,
    functionName: 'approve',
    args: [tokenMessenger as Hex, amountAtomic],
  })

/** The call of the token messenger that burns without a fee. */
export const encodeDepositForBurn = ({
  token,
  amountAtomic,
  domain,
  recipient,
  caller,
}: CrosschainBurn): Hex =>
  encodeFunctionData({
    abi: tokenMessengerV2Abi,
    functionName: 'depositForBurn',
    args: [amountAtomic, domain, recipient, token as Hex, caller, 0n, finalizedThreshold],
  })

/** The call of the executor that delivers an attested message. */
export const executionCall = (message: Hex, attestation: Hex): Hex =>
  encodeFunctionData({
    abi: genericExecutorAbi,
    functionName: 'receiveAndExecute',
    args: [message, attestation],
  })

/** The call of the message transmitter that delivers an attested message. */
export const deliveryCall = (message: Hex, attestation: Hex): Hex =>
  encodeFunctionData({
    abi: messageTransmitterV2Abi,
    functionName: 'receiveMessage',
    args: [message, attestation],
  })
