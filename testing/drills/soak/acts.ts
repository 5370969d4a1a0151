import { seededRandom } from '#testing/adversary/seeded-random'
import type { World } from '#testing/builders/world'
import type { Book } from './book.ts'
import type { Ground } from './ground.ts'
import type { Act } from './load.ts'
import { products } from './products/index.ts'

type Prepared = {
  ground: Ground
  worlds: readonly World[]
  seed: number
  book: Book
  say(what: string): void
}

/** Lets every tenant make what its acts need; a product that cannot be made is a defect, and the others are used. */
export async function prepareActs({ ground, worlds, seed, book, say }: Prepared): Promise<Act[]> {
  const chain = (name: string) => ground.chains.evm.find(({ blockchain }) => blockchain === name)!
  const ofTenant = async (world: World, tenant: number): Promise<Act[]> => {
    let ready = 0
    const made = products.map(async ({ name, weight, prepare }, index): Promise<Act[]> => {
      const random = seededRandom(seed + 100 * (tenant + 1) + index)
      try {
        const act = await prepare({ ground, world, tenant, random, book, chain })
        say(`tenant ${tenant + 1}: ${name} can begin, ${++ready} of ${products.length}`)
        return [{ name, weight, act }]
      } catch (error) {
        book.defect(`${name} could not be made: ${(error as Error).message.slice(0, 600)}`)
        return []
      }
    })
    return (await Promise.all(made)).flat()
  }
  return (await Promise.all(worlds.map(ofTenant))).flat()
}
