import { LeftOut, requireThat } from '../caller.ts'
import type { CheckGroup, World } from '../world.ts'

/** The numbers of the chains of the server. */
async function domainsOf(done: World['done']): Promise<string[]> {
  const { domains } = await done('GET /v1/info', { key: null })
  return domains.map(({ domain }: { domain: number }) => String(domain))
}

export const crosschain: CheckGroup = {
  name: 'cross-chain',
  checks: [
    {
      about: 'publishes the keys of attesters',
      run: async ({ done }) => {
        const { publicKeys } = await done('GET /v2/publicKeys', { key: null })
        requireThat(
          publicKeys.every(({ publicKey }: { publicKey: string }) => /^0x04[0-9a-f]{128}$/i.test(publicKey)),
          'a key is no uncompressed point',
        )
      },
    },
    {
      about: 'tells what a burn costs, for a fast one and for a final one',
      run: async ({ done }) => {
        const [source, destination] = await domainsOf(done)
        if (destination === undefined) throw new LeftOut('the server has one chain')
        const fees = (await done('GET /v2/burn/USDC/fees/{source}/{destination}', {
          key: null,
          params: { source: source!, destination },
        })) as { finalityThreshold: number }[]
        const thresholds = fees.map(({ finalityThreshold }) => finalityThreshold).sort()
        requireThat(
          thresholds.includes(1000) && thresholds.includes(2000),
          `the thresholds are ${thresholds.join(', ')}`,
        )
      },
    },
    {
      about: 'answers 404 for messages of a transaction that does not exist',
      run: async ({ ask, done }) => {
        const [source] = await domainsOf(done)
        const { status } = await ask('GET /v2/messages/{sourceDomainId}', {
          key: null,
          params: { sourceDomainId: source! },
          query: { transactionHash: `0x${'0'.repeat(63)}1` },
        })
        requireThat(status === 404, `answers ${status}`)
      },
    },
    {
      about: 'lists the chains of unified balances',
      run: async ({ done }) => requireThat((await domainsOf(done)).length > 0, 'there are none'),
    },
  ],
}
