# Installs the library into a folder, builds a program as one of its users would, and runs it:
#     cmake -DCONSUMER=find_package -DLIBRARY=.../c -DWORK=DIRECTORY -P run.cmake
# `zephyr` and `esp_idf` stand in for build systems that are not installed; they check the library's side of the interface.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "failed: ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix ${WORK}/prefix)
if(CONSUMER MATCHES "find_package|pkg_config")
  run(${CMAKE_COMMAND} -S ${LIBRARY} -B ${WORK}/library -DBUILD_TESTING=OFF -DCMAKE_INSTALL_PREFIX=${prefix} -DCMAKE_INSTALL_LIBDIR=lib)
  run(${CMAKE_COMMAND} --build ${WORK}/library)
  run(${CMAKE_COMMAND} --install ${WORK}/library)
endif()
set(ENV{PKG_CONFIG_PATH} ${prefix}/lib/pkgconfig)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/${CONSUMER} -B ${WORK}/build -DLIBRARY=${LIBRARY} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)
