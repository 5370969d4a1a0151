/**
 * Signatures of the messages between this server and the operator's connection to a bank: HMAC-SHA256 under one secret, over the
 * direction, the time and the bytes of the body. A message of one direction is none of the other, and an old one is refused. The time is
 * real: the clock of a sandbox moves, and that of the operator's program does not.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Orders go out, results come in. */
type BankMessageDirection = 'order' | 'result'

export const bankSignatureHeader = 'Bezant-Bank-Signature'
/** Difference between the time of a message and that of this server. */
const ageMaxSeconds = 300

const macOf = (secret: string, direction: BankMessageDirection, seconds: number, body: Uint8Array): Buffer =>
  createHmac('sha256', secret).update(`${direction}.${seconds}.`).update(body).digest()

/** The value of the header: `t=SECONDS,v1=HEX`. */
export const signBankMessage = (
  secret: string,
  direction: BankMessageDirection,
  seconds: number,
  body: Uint8Array,
): string => `t=${seconds},v1=${macOf(secret, direction, seconds, body).toString('hex')}`

/** Whether the header is the signature of these bytes, made within the last five minutes. */
export function isBankSignature(
  secret: string,
  direction: BankMessageDirection,
  nowSeconds: number,
  header: string,
  body: Uint8Array,
): boolean {
  const [, time, mac] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? []
  if (time === undefined || mac === undefined) return false
  if (Math.abs(nowSeconds - Number(time)) > ageMaxSeconds) return false
  return timingSafeEqual(macOf(secret, direction, Number(time), body), Buffer.from(mac, 'hex'))
}
