/** Work in the background, from its start until it is stopped. */
export type Service = {
  /** Resolves when every part does its work, or has tried to for the first time. */
  started: Promise<void>
  /** Stops it; resolves when the work under way has ended. A second call waits for the same. */
  stop(): Promise<void>
}

/** Something that stops: a service, a loop, or a function that ends a subscription. */
type Part = (() => unknown) | { started?: Promise<unknown>; stop(): Promise<unknown> }

/** Parts that stop together; those of the next stage stop after them. */
type Stage = Part | readonly Part[]

const isList = (stage: Stage): stage is readonly Part[] => Array.isArray(stage)
const partsOf = (stage: Stage): readonly Part[] => (isList(stage) ? stage : [stage])

/**
 * The service whose parts these are. `stop` stops stage after stage, in the order given: what wakes the work before the work
 * itself. A part that fails keeps no other from being stopped; the first failure is thrown at the end.
 */
export function serviceOf(...stages: readonly Stage[]): Service {
  const waiting = stages.flatMap(partsOf).map((part) => ('started' in part ? part.started : undefined))
  let stopping: Promise<void> | undefined
  return {
    started: Promise.all(waiting).then(() => undefined),
    stop: () => (stopping ??= stopAll(stages)),
  }
}

async function stopAll(stages: readonly Stage[]): Promise<void> {
  const failures: unknown[] = []
  for (const stage of stages) {
    const ends = await Promise.allSettled(
      partsOf(stage).map(async (part) => ('stop' in part ? part.stop() : part())),
    )
    for (const end of ends) if (end.status === 'rejected') failures.push(end.reason)
  }
  if (failures.length > 0) throw failures[0]
}
