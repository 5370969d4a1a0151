import { randomBytes } from 'node:crypto'
import { privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { chooseSigner } from '#custody/signers/choose'
import { bytesOf, hexOf } from '#lib/hex'
import { testLog } from '#testing/platform/log'
import { attestationProblem, joinSignatures, messageDigest } from './attestation.ts'

test('signatures as custody makes them become an attestation', async () => {
  const signer = await chooseSigner(testLog())
  const keys = Array.from({ length: 5 }, () => randomBytes(32))
  const message = hexOf(randomBytes(376))
  const digest = messageDigest(message)
  const signatures = keys.map((key) => {
    const signature = signer.sign(bytesOf(digest), key)
    signature[64]! += 27
    return hexOf(signature)
  })
  const attestation = await joinSignatures(digest, signatures)
  expect(attestation).toHaveLength(2 + 5 * 130)
  expect(await joinSignatures(digest, signatures.toReversed())).toBe(attestation)
  const attesters = keys.map((key) => privateKeyToAddress(hexOf(key)))
  const attested = { message, attestation, attesters, threshold: 5 }
  expect(await attestationProblem(attested)).toBeUndefined()
  expect(await attestationProblem({ ...attested, attesters: attesters.slice(1) })).toBe('not-attester')
  expect(await attestationProblem({ ...attested, threshold: 4 })).toBe('length')
  expect(await attestationProblem({ ...attested, threshold: 0, attestation: '0x' })).toBe('length')
  await expect(joinSignatures(digest, [signatures[0]!, signatures[0]!])).rejects.toThrow('the same signer')
  await expect(joinSignatures(digest, [hexOf(randomBytes(64))])).rejects.toThrow('no signature')
})
