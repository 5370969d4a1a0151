import type { Hex } from '#lib/hex'
import { type BurnBody, decodeBurnBody, decodeMessage } from './message.ts'
import { MessageProblem } from './message-problem.ts'
import { nativeForm } from './native-address.ts'

/** A message as the attestation service shows it: all values are strings, numbers in decimal. */
type DecodedMessage = {
  sourceDomain: string
  destinationDomain: string
  nonce: Hex
  sender: string
  recipient: string
  destinationCaller: string
  minFinalityThreshold: string
  finalityThresholdExecuted: string
  messageBody: Hex
  /** Null where the body is not that of a burn. */
  decodedMessageBody: DecodedBurnBody | null
}

type DecodedBurnBody = {
  burnToken: string
  mintRecipient: string
  amount: string
  messageSender: string
  maxFee: string
  feeExecuted: string
  expirationBlock: string
  hookData: Hex | null
}

/** Throws MessageProblem for bytes that are no message. */
export function decodedMessageOf(message: Hex): DecodedMessage {
  const { version: _, ...header } = decodeMessage(message)
  const burn = burnBodyOf(header.messageBody)
  return {
    sourceDomain: String(header.sourceDomain),
    destinationDomain: String(header.destinationDomain),
    nonce: header.nonce,
    sender: nativeForm(header.sender),
    recipient: nativeForm(header.recipient),
    destinationCaller: nativeForm(header.destinationCaller),
    minFinalityThreshold: String(header.minFinalityThreshold),
    finalityThresholdExecuted: String(header.finalityThresholdExecuted),
    messageBody: header.messageBody,
    decodedMessageBody: burn ? decodedBurnBody(burn) : null,
  }
}

const decodedBurnBody = (burn: BurnBody): DecodedBurnBody => ({
  burnToken: nativeForm(burn.burnToken),
  mintRecipient: nativeForm(burn.mintRecipient),
  amount: String(burn.amount),
  messageSender: nativeForm(burn.messageSender),
  maxFee: String(burn.maxFee),
  feeExecuted: String(burn.feeExecuted),
  expirationBlock: String(burn.expirationBlock),
  hookData: burn.hookData === '0x' ? null : burn.hookData,
})

function burnBodyOf(body: Hex): BurnBody | undefined {
  try {
    return decodeBurnBody(body)
  } catch (error) {
    if (error instanceof MessageProblem) return undefined
    throw error
  }
}
