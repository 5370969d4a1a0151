import type { EventLog } from '#engines/indexer/events/index'

/** The data of a log, or the size of one that is too large to be kept. */
export const dataOf = ({ data, dataBytes }: EventLog) =>
  data ? { data: `0x${data.toString('hex')}` } : { data: '0x', dataBytes }
