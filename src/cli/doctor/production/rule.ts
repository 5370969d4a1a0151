import type { DoctorCheck } from '../checks.ts'

/** A fault with its remedy; anything else than text is none. */
type RuleFault = string | false | undefined

/** Tells whether one setting or thing, harmless on a laptop, is unsafe where money is. */
export type ProductionRule<Facts> = {
  name: string
  /** Shown where there is no fault. */
  safe: string
  faults(facts: Facts): RuleFault[] | Promise<RuleFault[]>
}

/** The check of a rule, which names all its faults at once. */
export const productionCheckOf =
  <Facts>(facts: Facts) =>
  ({ name, safe, faults }: ProductionRule<Facts>): DoctorCheck => ({
    name,
    look: async () => {
      const found = (await faults(facts)).filter((fault) => typeof fault === 'string')
      if (found.length > 0) throw new Error(found.join('; '))
      return safe
    },
  })
