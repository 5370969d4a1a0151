/** Encodes transactions and delegate actions of NEAR in borsh. */
import { base58 } from '@scure/base'

const number = (value: bigint | number, bytes: number): Buffer => {
  const digits = BigInt(value)
    .toString(16)
    .padStart(bytes * 2, '0')
  return Buffer.from(digits, 'hex').reverse()
}
const bytesOf = (bytes: Uint8Array): Buffer => Buffer.concat([number(bytes.length, 4), bytes])
const text = (value: string): Buffer => bytesOf(Buffer.from(value))

/** A public key in base58, as wallets show it. */
const key = (publicKey: string): Buffer => Buffer.concat([Buffer.of(0), base58.decode(publicKey)])

/** The actions by their number in the encoding. */
export const nearActions = {
  createAccount: () => Buffer.of(0),
  deployContract: (code: Uint8Array) => Buffer.concat([Buffer.of(1), bytesOf(code)]),
  functionCall: (method: string, args: object | string, deposit: bigint) =>
    Buffer.concat([
      Buffer.of(2),
      text(method),
      text(typeof args === 'string' ? args : JSON.stringify(args)),
      number(30_000_000_000_000n, 8),
      number(deposit, 16),
    ]),
  transfer: (yocto: bigint) => Buffer.concat([Buffer.of(3), number(yocto, 16)]),
  addFullAccessKey: (publicKey: string) =>
    Buffer.concat([Buffer.of(5), key(publicKey), number(0, 8), Buffer.of(1)]),
  deleteAccount: (beneficiary: string) => Buffer.concat([Buffer.of(7), text(beneficiary)]),
}

type Signed = { signer: string; publicKey: string; receiver: string; actions: readonly Uint8Array[] }

const listOf = (actions: readonly Uint8Array[]): Buffer =>
  Buffer.concat([number(actions.length, 4), ...actions])

export const nearTransaction = ({
  signer,
  publicKey,
  receiver,
  actions,
  nonce = 1n,
  blockHash = Buffer.alloc(32, 7),
}: Signed & { nonce?: bigint; blockHash?: Buffer }): Buffer =>
  Buffer.concat([text(signer), key(publicKey), number(nonce, 8), text(receiver), blockHash, listOf(actions)])

export const nearDelegateAction = ({
  signer,
  publicKey,
  receiver,
  actions,
  nonce = 5n,
  maxBlockHeight = 1000n,
}: Signed & { nonce?: bigint; maxBlockHeight?: bigint }): Buffer =>
  Buffer.concat([
    text(signer),
    text(receiver),
    listOf(actions),
    number(nonce, 8),
    number(maxBlockHeight, 8),
    key(publicKey),
  ])
