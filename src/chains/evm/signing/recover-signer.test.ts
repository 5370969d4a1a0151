import { hexToBigInt, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { gatewaySignerAccount } from '#sandbox/constants'
import { recoverSigner } from './recover-signer.ts'

const account = privateKeyToAccount(gatewaySignerAccount.privateKey)
const digest = `0x${'ab'.repeat(32)}` as const
const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

test('a signature recovers to its signer, and others to another account or none', async () => {
  const signature = await account.sign({ hash: digest })
  expect(await recoverSigner(digest, signature)).toBe(account.address.toLowerCase())
  const other = await recoverSigner(`0x${'ac'.repeat(32)}`, signature)
  expect(other).not.toBe(account.address.toLowerCase())
})

test('bytes that the contracts do not take for a signature recover to no account', async () => {
  const signature = await account.sign({ hash: digest })
  const s = numberToHex(order - hexToBigInt(`0x${signature.slice(66, 130)}`), { size: 32 }).slice(2)
  const mirrored = `${signature.slice(0, 66)}${s}${signature.endsWith('1b') ? '1c' : '1b'}`
  const parity = `${signature.slice(0, 130)}${signature.endsWith('1b') ? '00' : '01'}`
  for (const wrong of ['0x', mirrored, parity, `${signature}00`, `0x${'00'.repeat(64)}1b`])
    expect(await recoverSigner(digest, wrong as `0x${string}`)).toBeUndefined()
})
