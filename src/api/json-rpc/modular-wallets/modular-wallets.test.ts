/** Wallets of owners: their addresses and mappings, as pages ask for them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOwner as byAddress, openModularAccount } from '#testing/builders/modular-accounts'
import { freshAddress } from '#testing/builders/world'
import { type Harness, openHarness } from '#testing/platform/harness'
import { httpAs } from '#testing/platform/tenant'
import { clientPasskey, makePasskey } from '../../../../contracts/test/accounts/keys.ts'

let harness: Harness
beforeAll(async () => {
  harness = await openHarness({ engines: false })
})
afterAll(() => harness?.close())

const ask = async (method: string, params: unknown[]) => {
  const { status, body } = await httpAs(harness.url, harness.clientKey)(
    'POST',
    '/v1/rpc/w3s/buidl/baseSepolia',
    {
      body: { jsonrpc: '2.0', id: 1, method, params },
    },
  )
  expect(status).toBe(200)
  return body
}
const refusal = async (method: string, params: unknown[]) => {
  const { error } = await ask(method, params)
  return [error?.code, error?.message]
}
const accountOf = (owner: unknown) => openModularAccount(harness, harness, owner)

const request = (owners: object, thresholdWeight = 1) => [
  {
    scaConfiguration: {
      initialOwnershipConfiguration: { weightedMultisig: { ...owners, thresholdWeight } },
      scaCore: 'circle_6900_v1',
    },
    metadata: { name: 'mine' },
  },
]

describe('wallets of owners', () => {
  it('have the address that the client computes, whoever asks and how often', async () => {
    const passkey = makePasskey()
    const owner = byAddress()
    const kinds = [
      [owner, { owners: [{ address: owner.address, weight: 1 }] }],
      [
        clientPasskey(passkey),
        {
          webauthnOwners: [{ publicKeyX: passkey.x.toString(), publicKeyY: passkey.y.toString(), weight: 1 }],
        },
      ],
    ] as const
    for (const [client, owners] of kinds) {
      const { account } = await accountOf(client)
      const { result } = await ask('circle_getAddress', request(owners))
      expect(result).toMatchObject({
        address: account.address.toLowerCase(),
        blockchain: 'BASE-SEPOLIA',
        state: 'LIVE',
        name: 'mine',
        scaCore: 'circle_6900_v1',
        scaConfiguration: {
          initialOwnershipConfiguration: { weightedMultisig: { ...lower(owners), thresholdWeight: 1 } },
          initCode: expect.stringMatching(/^0x0000000df7e6c9dc387cafc5ecbfa6c3a6179add81d0dff1/),
        },
      })
      expect((await ask('circle_getAddress', request(owners))).result).toEqual(result)
    }
  })
  const lower = (value: object) =>
    JSON.parse(
      JSON.stringify(value)
        .toLowerCase()
        .replaceAll('publickeyx', 'publicKeyX')
        .replaceAll('publickeyy', 'publicKeyY')
        .replaceAll('webauthnowners', 'webauthnOwners'),
    )

  it('are refused for owners that could not sign', async () => {
    const owner = { address: byAddress().address, weight: 1 }
    for (const [params, message] of [
      [request({}), /must name an owner/],
      [request({ owners: [owner] }, 2), /thresholdWeight is above the sum/],
      [
        request({ webauthnOwners: [{ publicKeyX: '1', publicKeyY: '2', weight: 1 }] }),
        /no point of the curve/,
      ],
      [request({ owners: [{ address: '0x12', weight: 1 }] }), /address/],
    ] as const)
      expect(await refusal('circle_getAddress', [...params])).toEqual([
        -32602,
        expect.stringMatching(message),
      ])
  })

  it('are found by their owners, each mapping once, and not before they have the owner', async () => {
    const owner = { type: 'EOAOWNER', identifier: { address: byAddress().address.toLowerCase() } }
    const recovery = { type: 'EOAOWNER', identifier: { address: freshAddress() } }
    const only = request({ owners: [{ ...owner.identifier, weight: 1 }] })
    const { result: wallet } = await ask('circle_getAddress', only)
    const claim = async (of: object, walletAddress = wallet.address) =>
      ask('circle_createAddressMapping', [{ walletAddress, owners: [of] }])
    const found = async (of: object) => (await ask('circle_getAddressMapping', [{ owner: of }])).result
    const { result: made } = await claim(owner)
    expect(made).toMatchObject([{ walletAddress: wallet.address, blockchain: 'BASE-SEPOLIA', owner }])
    expect(await found(owner)).toEqual(made)
    expect((await claim(recovery)).result).toMatchObject([{ owner: recovery }])
    expect(await found(recovery)).toEqual([])
    for (const of of [owner, recovery])
      expect((await claim(of)).error).toEqual({
        code: -32602,
        message: expect.stringContaining('has this wallet already'),
      })
    expect((await claim(recovery, freshAddress())).error).toEqual({
      code: -32602,
      message: expect.stringContaining('no wallet of this endpoint'),
    })
  })
})
