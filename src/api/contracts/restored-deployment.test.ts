/** An older copy of the database replaces it after a contract was deployed: journals restore the transaction alone. */
import { randomUUID } from 'node:crypto'
import { afterEach, expect, it } from 'vitest'
import { seededRandom } from '#testing/adversary/seeded-random'
import { catalogueAbi, catalogueBytecode } from '#testing/artifacts/catalogue'
import { cleanUp, copyOf, fundedWallets, openTwoMachines } from '#testing/databases/restored-database'
import type { Tenant } from '#testing/platform/tenant'
import { until } from '#testing/platform/until'

afterEach(cleanUp)

const deploy = async (tenant: Tenant, path: string, body: object) =>
  tenant.http('POST', path, { body: { ...body, entitySecretCiphertext: await tenant.sealSecret() } })

it('property 30: a deployment repeated after a restore finds its contract, which is made once', async () => {
  const site = await openTwoMachines(seededRandom(1), { automine: true })
  const first = await copyOf('seeded')
  const api = await site.front(first)
  await site.open(first, 'one')
  const [wallet] = await fundedWallets(api, site.chain)
  await site.closeAll()
  const restored = await copyOf(first.name)

  const later = await site.front(first)
  await site.open(first, 'one')
  const { id: walletId, address } = wallet!
  const paying = { walletId, blockchain: 'BASE-SEPOLIA', feeLevel: 'MEDIUM', name: 'A contract' }
  const catalogue = { bytecode: catalogueBytecode, abiJson: JSON.stringify(catalogueAbi) }
  const constructorParameters = [address, ['7', 'spring'], [5, -3]]
  const template = '/v1/w3s/templates/a1b74add-23e0-4712-88d1-6b3009e85a86/deploy'
  const templateParameters = { name: 'A', symbol: 'A', defaultAdmin: address, primarySaleRecipient: address }
  const requests = [
    ['/v1/w3s/contracts/deploy', { ...catalogue, constructorParameters }],
    [template, { templateParameters }],
  ] as const
  const orders = await Promise.all(
    requests.map(async ([path, fields]) => {
      const body = { ...paying, ...fields, idempotencyKey: randomUUID() }
      const answer = await deploy(later, path, body)
      expect(answer.status, answer.text).toBe(201)
      return { path, body, transactionId: answer.body.data.transactionId as string }
    }),
  )
  const transactionOf = async (tenant: Tenant, id: string) =>
    (await tenant.http('GET', `/v1/w3s/transactions/${id}`)).body.data?.transaction
  for (const { transactionId: id } of orders)
    await until(async () => (await transactionOf(later, id)).state === 'COMPLETE', 'it is deployed')
  await site.closeAll()

  const again = await site.front(restored)
  await site.open(restored, 'one')
  for (const { path, body, transactionId } of orders) {
    await until(
      async () => (await transactionOf(again, transactionId))?.state === 'COMPLETE',
      'it is restored',
    )
    const answers = await Promise.all([1, 2, 3].map(() => deploy(again, path, body)))
    const [one] = answers.map(({ body: { data } }) => data)
    for (const { status, body: said } of answers) expect([status, said.data]).toEqual([200, one])
    expect(one.transactionId).toBe(transactionId)
    const id = one.contractId ?? one.contractIds[0]
    const { contract } = (await again.http('GET', `/v1/w3s/contracts/${id}`)).body.data
    const { contractAddress, txHash } = await transactionOf(again, transactionId)
    expect(contract).toMatchObject({ status: 'COMPLETE', contractAddress, txHash, name: 'A contract' })
    expect(contract.functions.length).toBeGreaterThan(0)
  }
  const { contracts } = (await again.http('GET', '/v1/w3s/contracts')).body.data
  expect(contracts).toHaveLength(orders.length)
  await site.chain.oracle.checkNonces(address)
})
