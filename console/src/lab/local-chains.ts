import { read } from '../api/ask.ts'
import type { LocalChain } from '../api/types.ts'

/** The query for the chains of the sandbox, which the pages of the lab share. */
export const localChains = {
  queryKey: ['local chains'],
  queryFn: () => read<LocalChain[]>('/sandbox/chains'),
}

/** The names of the chains that have an operation of the lab. */
export const chainsThat = (operation: string, chains: readonly LocalChain[] | undefined): string[] =>
  (chains ?? [])
    .filter(({ operations }) => operations.includes(operation))
    .map(({ blockchain }) => blockchain)
