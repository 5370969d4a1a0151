import type { Hex } from '#lib/hex'

/** Runtime code as the compiler leaves it, with zeros in the places of immutables, which count in bytes. */
type CodeWithImmutables = { runtime: Hex; immutables: Readonly<Record<string, readonly number[]>> }

/** The runtime code as a constructor leaves it that set these values: numbers, addresses or words, by name. */
export function withImmutables(
  { runtime, immutables }: CodeWithImmutables,
  values: Readonly<Record<string, Hex>>,
): Hex {
  let digits: string = runtime.slice(2)
  for (const [name, places] of Object.entries(immutables)) {
    const word = values[name]!.slice(2).toLowerCase().padStart(64, '0')
    for (const start of places) digits = digits.slice(0, start * 2) + word + digits.slice(start * 2 + 64)
  }
  return `0x${digits}`
}
