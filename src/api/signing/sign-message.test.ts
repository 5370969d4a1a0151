import { verifyMessage } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '#runtime/db/db'
import { freshAddress, makeWallet, type World } from '#testing/builders/world'
import { openSigningHarness, type SigningHarness } from '#testing/platform/signing-harness'

type Hex = `0x${string}`

let kit: SigningHarness
let address: Hex
let world: World
beforeAll(async () => {
  kit = await openSigningHarness()
  ;({ address, world } = kit)
})
afterAll(() => kit?.harness.close())

const byAddress = { walletId: undefined, walletAddress: '', blockchain: 'EVM-TESTNET' }

describe('a message', () => {
  it.each([
    ['text', { message: 'I agree to pay 5 €' }, 'I agree to pay 5 €'],
    ['bytes', { message: '0xdeadbeef', encodedByHex: true }, { raw: '0xdeadbeef' }],
    ['text that looks like bytes', { message: '0xdeadbeef' }, '0xdeadbeef'],
  ] as const)(
    'of %s is signed so that others verify it, through the published client',
    async (_, input, message) => {
      const { data } = await kit.client.signMessage({ walletId: kit.wallet.id, ...input })
      expect(data?.signature).toMatch(/^0x[0-9a-f]{130}$/)
      expect(
        await verifyMessage({ address, message: message as string, signature: data!.signature as Hex }),
      ).toBe(true)
    },
  )

  it.each([
    [{ message: 'beef', encodedByHex: true }, 156023, /^message$/],
    [{ message: '0x123', encodedByHex: true }, 156023, /^message$/],
    [{ message: '' }, 156025, /^message$/],
    [{ message: 7 }, 2, /^message$/],
    [{}, 2, /^message$/],
  ])('%j is refused with %i', (fields, code, location) => kit.refused('message', fields, code, location))
})

describe('the signer', () => {
  it('is found under the virtual blockchain by an address on any blockchain', async () => {
    const known = await makeWallet(world)
    const { status, body } = await kit.post('message', {
      ...byAddress,
      walletAddress: known.address,
      message: 'hi',
    })
    expect(status).toBe(200)
    const { signature } = body.data
    expect(await verifyMessage({ address: known.address as Hex, message: 'hi', signature })).toBe(true)
  })

  it.each([
    ['unknown', { ...byAddress, walletAddress: freshAddress() }, 156001],
    ['on another blockchain only', { ...byAddress, blockchain: 'ETH-SEPOLIA' }, 156001],
    ['on a main network', { ...byAddress, blockchain: 'EVM' }, 156006],
    ['of a family that signs no messages', { ...byAddress, blockchain: 'NEAR-TESTNET' }, 155510],
    ['named twice', { walletAddress: freshAddress() }, 155244],
    ['not named', { walletId: undefined }, 2],
  ])('is refused when %s', async (_, fields, code) => {
    const walletAddress = 'walletAddress' in fields && fields.walletAddress === '' ? address : undefined
    await kit.refused('message', { message: 'hi', ...fields, ...(walletAddress && { walletAddress }) }, code)
  })

  it('is refused when it belongs to another entity or is frozen', async () => {
    const stranger = await kit.harness.newEntity()
    const body = {
      walletId: kit.wallet.id,
      message: 'hi',
      entitySecretCiphertext: await stranger.sealSecret(),
    }
    const answer = await stranger.http('POST', '/v1/w3s/developer/sign/message', { body })
    expect([answer.status, answer.body.code]).toEqual([404, 156001])
    const frozen = await makeWallet(world)
    await kit.harness.database.run(sql`update wallets set state = 'FROZEN' where id = ${frozen.id}`)
    await kit.refused('message', { walletId: frozen.id, message: 'hi' }, 155501)
    await kit.refused('message', { ...byAddress, walletAddress: frozen.address, message: 'hi' }, 155501)
  })

  it('shows a ciphertext once, and leaves an audit entry for each signature', async () => {
    const entitySecretCiphertext = await kit.harness.sealSecret()
    const first = await kit.post('message', {
      entitySecretCiphertext,
      message: 'once',
      memo: 'for the audit',
    })
    expect(first.status).toBe(200)
    await kit.refused('message', { entitySecretCiphertext, message: 'once' }, 156004)
    const requestId = first.headers.get('x-request-id')
    const rows = await kit.harness.database.all<{ action: string; resource: string }>(
      sql`select action, resource_id as resource from audit where request_id = ${requestId}`,
    )
    expect(rows).toEqual([{ action: 'wallet.signed', resource: kit.wallet.id }])
  })
})
