import { canonicalAddress } from '#chains/addresses/canonical'
import { recoverSigner } from '#chains/evm/signing/recover-signer'
import { personalMessageDigest } from '#chains/evm/signing/sign-message'
import { readTypedData } from '#chains/evm/signing/sign-typed-data'
import type { Hex } from '#lib/hex'
import { hexOf } from '#lib/hex'
import { requireThat } from '../caller.ts'
import type { CheckGroup } from '../world.ts'

const typedData = {
  domain: { name: 'Conformance', version: '1' },
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
    ],
    Order: [
      { name: 'amounts', type: 'uint256[]' },
      { name: 'buyer', type: 'address' },
    ],
  },
  primaryType: 'Order',
  message: { amounts: ['1', '2'], buyer: '0x000000000000000000000000000000000000dEaD' },
}

async function requireSigner(digest: Uint8Array, signature: string, address: string): Promise<void> {
  const signer = await recoverSigner(hexOf(digest), signature as Hex)
  requireThat(
    signer === canonicalAddress(address),
    `the signature is by ${signer ?? 'no account'}, not by ${address}`,
  )
}

export const signatures: CheckGroup = {
  name: 'signatures',
  checks: [
    {
      about: 'signs a message with the key of the wallet (EIP-191)',
      needs: 'entity secret',
      run: async ({ wallets, done, seal }) => {
        const [{ id: walletId, address }] = await wallets()
        const sign = async (body: object) => {
          const sealed = { walletId, entitySecretCiphertext: await seal(), ...body }
          return (await done('POST /v1/w3s/developer/sign/message', { body: sealed })).signature as string
        }
        const message = 'I agree – 同意 ✓'
        await requireSigner(personalMessageDigest(Buffer.from(message)), await sign({ message }), address)
        const bytes = Buffer.from('00ff10', 'hex')
        const ofBytes = await sign({ message: '0x00ff10', encodedByHex: true })
        await requireSigner(personalMessageDigest(bytes), ofBytes, address)
      },
    },
    {
      about: 'signs typed data with the key of the wallet (EIP-712)',
      needs: 'entity secret',
      run: async ({ wallets, done, seal }) => {
        const [{ id: walletId, address }] = await wallets()
        const body = { walletId, entitySecretCiphertext: await seal(), data: JSON.stringify(typedData) }
        const { signature } = await done('POST /v1/w3s/developer/sign/typedData', { body })
        await requireSigner(readTypedData(typedData).digest, signature, address)
      },
    },
    {
      about: 'refuses typed data that is no JSON, and a message of an odd number of digits',
      needs: 'entity secret',
      run: async ({ wallets, refused, seal }) => {
        const [{ id: walletId }] = await wallets()
        const bodyOf = async (fields: object) => ({
          walletId,
          entitySecretCiphertext: await seal(),
          ...fields,
        })
        await refused('POST /v1/w3s/developer/sign/typedData', 'typedDataNotJson', {
          body: await bodyOf({ data: '{' }),
        })
        await refused('POST /v1/w3s/developer/sign/message', 'messageNotHex', {
          body: await bodyOf({ message: '0x123', encodedByHex: true }),
        })
      },
    },
  ],
}
