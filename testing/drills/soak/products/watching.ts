import { emit, makeEmitter, makeMonitor } from '#testing/builders/emitter'
import type { Product } from './product.ts'

/** Logs of a contract that a monitor keeps and webhooks report. */
export const monitors: Product = {
  name: 'monitors',
  weight: 2,
  prepare: async ({ world, book, random }) => {
    const contract = await makeEmitter(world)
    await makeMonitor(world, contract)
    let emitted = 0
    book.accept({
      product: 'monitors',
      differs: async () => {
        let seen = 0
        for (let after = ''; ; ) {
          const answer = await world.tenant.http(
            'GET',
            `/v1/w3s/contracts/events?contractAddress=${contract}&pageSize=50${after}`,
          )
          const { eventLogs } = answer.body.data as { eventLogs: { id: string }[] }
          seen += eventLogs.length
          if (eventLogs.length < 50) break
          after = `&pageAfter=${eventLogs.at(-1)!.id}`
        }
        return seen === emitted ? undefined : `${emitted} logs were emitted and ${seen} are listed`
      },
    })
    return async () => {
      const count = random.between(1, 5)
      await emit(world, contract, count)
      emitted += count
    }
  },
}

const lists = [
  ['/v1/w3s/transactions', 'transactions'],
  ['/v1/w3s/wallets', 'wallets'],
  ['/v1/w3s/contracts/events', 'eventLogs'],
  ['/v1/payments', undefined],
  ['/v1/payouts', undefined],
  ['/v1/paymentIntents', undefined],
] as const

/** Pages of lists that grow: no item is on two pages. */
export const pages: Product = {
  name: 'lists',
  weight: 4,
  prepare: async ({ world, book, random }) => {
    return async () => {
      const [path, member] = random.pick(lists)
      const seen = new Set<string>()
      let next: string | undefined = `${path}?pageSize=${random.between(5, 50)}`
      for (let page = 0; next && page < 5; page++) {
        const answer: Awaited<ReturnType<typeof world.tenant.http>> = await world.tenant.http('GET', next)
        if (answer.status !== 200) throw new Error(`${next}: ${answer.status} ${answer.text}`)
        const items = (member ? answer.body.data[member] : answer.body.data) as { id: string }[]
        for (const { id } of items) {
          if (seen.has(id)) book.defect(`${path} listed ${id} on two pages`)
          seen.add(id)
        }
        const link = /<([^>]+)>;\s*rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
        next = link && new URL(link).pathname + new URL(link).search
      }
    }
  },
}
