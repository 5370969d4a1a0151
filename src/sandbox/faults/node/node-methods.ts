/** The methods of nodes, by what comes before their first underscore. */
const methodsOf: Readonly<Record<string, string>> = {
  eth: `accounts blobBaseFee blockNumber call callMany chainId coinbase config createAccessList estimateGas feeHistory
    fillTransaction gasPrice getAccount getAccountInfo getBalance getBlockByHash getBlockByNumber getBlockReceipts
    getBlockTransactionCountByHash getBlockTransactionCountByNumber getCode getFilterChanges getFilterLogs getLogs getProof
    getRawTransactionByBlockHashAndIndex getRawTransactionByBlockNumberAndIndex getRawTransactionByHash getStorageAt
    getTransactionByBlockHashAndIndex getTransactionByBlockNumberAndIndex getTransactionByHash
    getTransactionBySenderAndNonce getTransactionCount getTransactionReceipt getUncleByBlockHashAndIndex
    getUncleByBlockNumberAndIndex getUncleCountByBlockHash getUncleCountByBlockNumber getUserOperationByHash
    getUserOperationReceipt getWork hashrate maxPriorityFeePerGas mining networkId newBlockFilter newFilter
    newPendingTransactionFilter protocolVersion requestAccounts sendRawTransaction sendRawTransactionConditional
    sendRawTransactionSync sendTransaction sendTransactionSync sendUnsignedTransaction sendUserOperation sign
    signTransaction signTypedData signTypedData_v3 signTypedData_v4 simulateV1 submitHashrate submitWork subscribe
    supportedEntryPoints syncing uninstallFilter unsubscribe`,
  net: 'listening peerCount version',
  web3: 'clientVersion sha3',
  txpool: 'content contentFrom inspect status',
  debug: `accountRange codeByHash dbGet getBadBlocks getRawBlock getRawHeader getRawReceipts getRawTransaction
    storageRangeAt traceBlock traceBlockByHash traceBlockByNumber traceCall traceCallMany traceTransaction`,
  trace: `block call callMany filter get rawTransaction replayBlockTransactions replayTransaction transaction`,
  evm: `increaseTime mine mine_detailed removeBlockTimestampInterval revert setAccountNonce setAutomine setBlockGasLimit
    setBlockTimestampInterval setIntervalMining setNextBlockTimestamp setTime snapshot`,
  anvil: `addBalance autoImpersonateAccount dealERC20 dropAllTransactions dropTransaction dumpState enableTraces getAutomine
    getBlobByHash getBlobsByBlockId getBlobsByTransactionHash getGenesisTime getIntervalMining impersonateAccount
    impersonateSignature increaseTime loadState metadata mine nodeInfo removeBlockTimestampInterval
    removePoolTransactions reorg reset revert rollback setAutomine setBalance setBlockGasLimit setBlockTimestampInterval
    setChainId setCode setCoinbase setERC20Allowance setERC20Balance setIntervalMining setLoggingEnabled setMinGasPrice
    setNextBlockBaseFeePerGas setNextBlockTimestamp setNonce setRpcUrl setStorageAt setTime snapshot
    stopImpersonatingAccount`,
  hardhat: `autoImpersonateAccount dropAllTransactions dropTransaction dumpState getAutomine impersonateAccount loadState
    metadata mine reset setBalance setCode setCoinbase setLoggingEnabled setMinGasPrice setNextBlockBaseFeePerGas
    setNonce setPrevRandao setStorageAt stopImpersonatingAccount`,
  erigon: 'getHeaderByNumber',
  ots: `getApiLevel getBlockDetails getBlockDetailsByHash getBlockTransactions getContractCreator getInternalOperations
    getTransactionBySenderAndNonce getTransactionError hasCode searchTransactionsAfter searchTransactionsBefore
    traceTransaction`,
  personal: 'sign',
  rpc: 'modules',
  wallet: 'getCapabilities sendTransaction',
}

export const nodeMethods: readonly string[] = Object.entries(methodsOf).flatMap(([prefix, names]) =>
  names.split(/\s+/).map((name) => `${prefix}_${name}`),
)

/** Whether a text begins as methods of nodes do: a client may ask for one that is not listed here. */
export const hasMethodPrefix = (text: string): boolean => Object.hasOwn(methodsOf, text.split('_')[0]!)
