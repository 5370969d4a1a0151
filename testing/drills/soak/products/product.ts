import type { SeededRandom } from '#testing/adversary/seeded-random'
import type { World } from '#testing/builders/world'
import type { TestChain } from '#testing/platform/chain'
import type { Book } from '../book.ts'
import type { Ground } from '../ground.ts'

/** The means of an act of a product. */
export type Setting = {
  ground: Ground
  /** One of the tenants; its requests go to whatever server is up. */
  world: World
  /** The number of the tenant, from 0. */
  tenant: number
  random: SeededRandom
  book: Book
  chain(blockchain: string): TestChain
}

/** A part of the platform that customers use, acted by one of them again and again. */
export type Product = {
  name: string
  /** How often it is acted beside the others. */
  weight: number
  /** Makes what all acts need; returns one act. */
  prepare(setting: Setting): Promise<() => Promise<void>>
}
