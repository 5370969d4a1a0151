import { randomUUID } from 'node:crypto'
import { type Tenant, tenantOf } from '#testing/platform/tenant'

/** A wallet; its address has the form of an EVM chain, where it is on one. */
export type Wallet = { id: string; address: `0x${string}` }

/** The data of an answer, which must be a success. */
// biome-ignore lint/suspicious/noExplicitAny: every answer has its own shape
export async function callApi({ http }: Tenant, method: string, path: string, body?: object): Promise<any> {
  const answer = await http(method, path, body && { body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body?.data
}

export type Customer = Awaited<ReturnType<typeof openTenant>>

/** A customer of a sandbox with this output, with wallets on one chain. */
export async function openTenant(
  sandbox: { url: string; apiKey: string; entitySecret: string; blockchain?: string },
  count = 1,
) {
  const tenant = tenantOf(sandbox.url, { entityId: '', ...sandbox })
  const keyed = async () => ({
    idempotencyKey: randomUUID(),
    entitySecretCiphertext: await tenant.sealSecret(),
  })
  const set = await callApi(tenant, 'POST', '/v1/w3s/developer/walletSets', {
    ...(await keyed()),
    name: 'Bench',
  })
  const { wallets } = await callApi(tenant, 'POST', '/v1/w3s/developer/wallets', {
    ...(await keyed()),
    walletSetId: set.walletSet.id,
    blockchains: [sandbox.blockchain ?? 'BASE-SEPOLIA'],
    count,
  })
  return { tenant, keyed, wallets: wallets as Wallet[], wallet: wallets[0] as Wallet }
}
